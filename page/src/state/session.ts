/** Session: everything that a person can do with the page, as methods; panels and maps call these. */

import { PLANE } from "../geometry/shadow";
import { isDrawn, regionOf } from "../geometry/workspace";
import { FRONT } from "../map/orbit";
import type { View } from "../map/view";
import * as api from "../net/api";
import type { Scenario } from "../net/api";
import { namesOf, type Recording } from "../net/recorded";
import { firstState, type AppState, type Notice } from "./app";
import { Beginning } from "./beginning";
import { Clock, usualSpeed } from "./clock";
import { sameStart, type Places } from "./edits";
import { Forms } from "./forms";
import { Editor } from "./editor";
import { History, type Step } from "./history";
import type { Lane } from "./lane";
import { MOST_LAWS, nameOf } from "./laws";
import { hintOf } from "./hints";
import { keepTheme, type ThemeChoice } from "./link";
import { Runs } from "./runs";
import { Store } from "./store";

export class Session {
  readonly store = new Store<AppState>(firstState());
  readonly clock: Clock = new Clock(() => this.runs.limit());
  readonly runs: Runs = new Runs(this);
  readonly editor = new Editor(this);
  readonly forms = new Forms(this);
  private readonly beginning = new Beginning(this);
  /** What maps show; null: everything. */
  view: View | null = null;
  private history = new History();
  edits = 0; // counted so that late answers can be dropped
  private opens = 0; // scenarios that were requested and are not there yet
  private back: () => void = () => undefined; // from the story
  private runPending = false; // Run was pressed before there was a scenario
  private changing: Promise<boolean> | null = null; // the latest change, until the server has answered

  /** A fixed session shows recorded runs and changes nothing: there is no server. */
  constructor(readonly fixed = false) {}

  /** Whether nothing can be changed: in a fixed session, and while the story is shown. */
  get locked(): boolean {
    return this.fixed || this.store.get().story !== null;
  }

  begin(): Promise<void> {
    return this.beginning.begin();
  }

  /** What a reload needs. */
  keep(): void {
    if (!this.fixed) this.beginning.keep();
  }

  /** The address of the page with the scenario in it. */
  link(): Promise<string> {
    return this.beginning.link();
  }

  // Saying.

  say(text: string, kind: Notice["kind"] = "info"): void {
    this.store.set({ notice: { kind, text } });
  }

  /** What can be done now, with the tool that is chosen. */
  hint(): void {
    this.say(hintOf(this.store.get().tool, this), "hint");
  }

  quiet(): void {
    this.store.set({ notice: null });
  }

  fail(error: unknown): void {
    if (error instanceof api.Unreachable) this.store.set({ offline: true });
    this.say(api.sentence(error), "error");
  }

  /** Whether there is a map on which things can be moved. */
  get touchable(): boolean {
    return isDrawn(regionOf(this.store.get().scenario?.workspace ?? {}));
  }

  // Scenarios.

  /** Begin anew with a scenario, as it is understood by the server. */
  async open(requested: Scenario): Promise<boolean> {
    this.leaveStory();
    const edit = ++this.edits;
    this.store.set({ opening: ++this.opens > 0 });
    try {
      const { scenario, start, repairs } = await api.validate(requested);
      if (edit !== this.edits) return false; // another one was opened in between
      this.take(scenario, start);
      if (repairs.length) this.say(repairs.join(" "));
      else this.hint();
      return true;
    } catch (error) {
      if (!(error instanceof api.Unreachable)) this.dropPending();
      this.fail(error);
      return false;
    } finally {
      this.store.set({ opening: --this.opens > 0 });
      this.startPending();
    }
  }

  /** Run what was opened, if Run was pressed before it was there. */
  startPending(): void {
    if (!this.runPending || this.opens || !this.store.get().scenario) return;
    this.runPending = false;
    void this.run();
  }

  private dropPending(): void {
    if (this.runPending) this.store.set({ asking: false });
    this.runPending = false;
  }

  take(scenario: Scenario, start: Places): void {
    this.history.clear();
    this.noteHistory();
    this.view = null;
    this.store.set({ scenario, start, drawing: null, drafts: [], axes: PLANE, orbit: FRONT, sensor: 0 });
    this.editor.chooseNothing();
    this.reset(scenario.controller.kind);
    this.clock.setSpeed(usualSpeed(scenario.run.horizon));
  }

  /** Show recorded runs side by side, at their beginning; nothing is requested from the server. */
  showRecorded(runs: readonly Recording[]): void {
    this.edits++; // what is being requested must not overtake it
    this.take(runs[0].scenario, runs[0].start);
    const names = namesOf(runs);
    const lanes = runs.map(({ scenario: own }, k) =>
      this.runs.lane(own.controller.kind, nameOf(names[k]), { own, shown: runs[0].scenario }),
    );
    this.runs.show(lanes);
    for (const [k, lane] of lanes.entries()) lane.take(runs[k]);
    this.quiet();
  }

  async openText(text: string): Promise<void> {
    try {
      await this.open(await api.parse(text));
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * Change the scenario. Before a run the start is changed; on the way the run goes on from where
   * all agents are, or where `places` puts them, under the changed scenario. Another law or another
   * start begin anew.
   */
  change(scenario: Scenario, places?: (now: Places) => Places): Promise<boolean> {
    const change = this.changed(scenario, places).finally(() => {
      if (this.changing === change) this.changing = null;
    });
    return (this.changing = change);
  }

  /** Whether all edits are in the scenario, once those under way are; a run would else lack them. */
  private async settled(): Promise<boolean> {
    return (await this.forms.ready()) && (await this.changing) !== false;
  }

  private async changed(scenario: Scenario, places?: (now: Places) => Places): Promise<boolean> {
    const { scenario: before } = this.store.get();
    if (!before || this.locked) return false;
    const edit = ++this.edits;
    try {
      const found = await api.validate(scenario);
      if (edit !== this.edits) return false; // a later one has come in between
      this.mark();
      this.store.set({ scenario, start: found.start });
    } catch (error) {
      this.fail(error);
      return false;
    }
    this.quiet();
    if (before.run.horizon !== scenario.run.horizon) this.clock.setSpeed(usualSpeed(scenario.run.horizon));
    const other = before.controller.kind !== scenario.controller.kind;
    const anew = other || (!places && !sameStart(before, scenario));
    const taken =
      this.underWay && !anew ? await this.fork(places) : this.reset(other ? scenario.controller.kind : null);
    this.editor.keepChosen();
    this.keep();
    return taken;
  }

  /** What there is now, for a step back to it. */
  private here(): Step | null {
    const { scenario, start, lanes } = this.store.get();
    const { t, jump } = this.clock;
    return scenario && { scenario, start, shown: this.hasRun ? { lanes, t, jump } : null };
  }

  /** Before a change: remember what there is. Changes that come while one is under way are one with it. */
  private mark(): void {
    const now = this.here();
    if (now && !this.runs.forking) this.history.push(now);
    this.noteHistory();
  }

  private noteHistory(): void {
    this.store.set({ undoable: this.history.canUndo, redoable: this.history.canRedo });
  }

  get hasRun(): boolean {
    return this.runs.any;
  }

  get underWay(): boolean {
    return this.clock.t > 0 && this.hasRun;
  }

  undo(back = true): void {
    const now = this.here();
    const found = now && this.history.move(now, back);
    if (!found) return this.say(back ? "Nothing to undo." : "Nothing to redo.");
    this.edits++; // what is being requested must not overtake it
    this.noteHistory();
    this.store.set({ scenario: found.scenario, start: found.start });
    const { kind } = found.scenario.controller;
    if (found.shown) this.runs.bring(found.shown);
    else this.reset(kind === now.scenario.controller.kind ? null : kind);
    this.editor.keepChosen();
    this.keep();
    const lost =
      now.shown && !found.shown
        ? ` There is no run of it; ${back ? "redo (Ctrl+Y)" : "undo (Ctrl+Z)"} leads back to the one that was shown.`
        : "";
    this.say((back ? "The last change is undone." : "The change is there again.") + lost);
  }

  /** Forget the runs and go back to the beginning; `own` is the scenario's law, if it is another now. */
  reset(own: string | null = null): boolean {
    this.clock.pause();
    this.runs.clear(own);
    this.clock.seek(0);
    this.keep();
    return true;
  }

  // Runs.

  /** How long everything lasts that there is to show. */
  get end(): number {
    const { lanes, scenario } = this.store.get();
    return Math.max(0, ...lanes.map((lane) => lane.timeline.end)) || scenario?.run.horizon || 1; // 0 is a horizon, too
  }

  /** Who is present of the agents that the first map shows; null before a run. */
  get present(): Uint8Array | null {
    const lane = this.store.get().lanes[0];
    return lane?.stateAt(this.clock.t, this.jumpOf(lane))?.present ?? null;
  }

  /** How many jumps a lane shows. */
  jumpOf(lane: Lane): number {
    return this.runs.jumpOf(lane);
  }

  /** Run the scenario from the beginning, under each of the laws that are shown. */
  async run(play = true): Promise<void> {
    if (this.fixed) return;
    this.leaveStory();
    if (this.opens || !this.store.get().scenario) {
      this.runPending = true; // it runs when the scenario is there
      this.store.set({ asking: true });
      return;
    }
    if (!(await this.settled())) return;
    if (!(await this.editor.endDrawing())) return;
    const { scenario, lanes, panel } = this.store.get();
    if (panel === "guide") this.store.set({ panel: "numbers" });
    if (!scenario) return;
    const again = lanes.slice(0, MOST_LAWS).map((lane) => lane.blank());
    await this.launch(again.length > 1 ? again : [this.runs.lane(scenario.controller.kind)], play);
    if (lanes.length > MOST_LAWS) this.say(`Only the first ${MOST_LAWS} are run side by side.`);
  }

  private async launch(lanes: readonly Lane[], play: boolean): Promise<void> {
    const { scenario } = this.store.get();
    if (!scenario) return;
    this.quiet();
    const answer = await this.runs.launch(scenario, lanes);
    if (answer === "late" || answer === "none") return;
    this.clock.pause();
    this.clock.seek(0);
    if (play && answer === "all") this.clock.play();
    this.keep();
  }

  /** Go on from where all agents are now, or where `places` puts them. */
  async goOn(places?: (now: Places) => Places): Promise<boolean> {
    if (this.locked) return false;
    this.edits++;
    this.mark();
    return this.fork(places);
  }

  /** The run takes another way from here on; if the server refuses that, it and the scenario stay as they were. */
  private async fork(places: (now: Places) => Places = (now) => now): Promise<boolean> {
    const { scenario } = this.store.get();
    if (!scenario) return false;
    const answer = await this.runs.fork(scenario, places);
    if (answer === "late") return true; // one with what has come in between
    if (answer === "all") this.keep();
    else this.takeBack();
    return answer === "all";
  }

  private takeBack(): void {
    const before = this.history.takeBack();
    this.noteHistory();
    if (before) this.store.set({ scenario: before.scenario, start: before.start });
  }

  /** Begin the story; what is there now is put aside. */
  startStory(): void {
    if (this.store.get().story !== null) return;
    this.back = this.aside();
    this.store.set({ story: 0, tool: "agents", drawing: null });
  }

  /** Leave the story, and bring back what there was. */
  leaveStory(): void {
    if (this.store.get().story === null) return;
    this.store.set({ story: null });
    this.back();
  }

  private aside(): () => void {
    const { history, view } = this;
    const { scenario, start, lanes, panel, layers, tool } = this.store.get();
    const { t, jump, speed } = this.clock;
    this.history = new History();
    return () => {
      this.edits++;
      this.history = history;
      this.view = view;
      this.store.set({ scenario, start, panel, layers, tool, drawing: null, drafts: [] });
      this.runs.bring({ lanes, t, jump });
      this.clock.setSpeed(speed);
      this.editor.chooseNothing();
      this.noteHistory();
      this.hint();
    };
  }

  // Time.

  async playOrPause(): Promise<void> {
    if (this.clock.playing) return this.clock.pause();
    const { lanes, asking } = this.store.get();
    if (asking) return; // it plays when it comes
    const none = !lanes.length || lanes.some((lane) => !lane.timeline.pieces.length && !lane.working);
    if (none) return this.run();
    if (this.clock.t >= this.runs.limit().end) this.clock.seek(0);
    this.quiet();
    this.clock.play();
  }

  seek(t: number): void {
    this.runs.seek(t);
  }

  /** One jump forward or back, on the first lane. */
  step(by: number): void {
    const lane = this.store.get().lanes[0];
    if (!lane?.timeline.pieces.length) return;
    this.clock.pause();
    this.quiet();
    this.runs.step(by);
  }

  // Several laws, the link, the colours.

  /** Show so many laws side by side, the scenario's own first. */
  async compare(kinds: readonly string[]): Promise<void> {
    this.leaveStory();
    if (!(await this.settled())) return;
    const { scenario } = this.store.get();
    if (!scenario) return;
    const shown = [...new Set(kinds)].slice(0, MOST_LAWS);
    this.store.set({ selected: -1 });
    const lanes = shown.map((kind) => this.runs.lane(kind));
    if (lanes.length > 1) return this.launch(lanes, true);
    const own = this.runs.lanes.filter(({ kind, timeline }) => kind === shown[0] && timeline.last);
    const kept = own.slice(0, 1);
    this.runs.forgetRequested();
    this.runs.show(kept);
    if (!kept.length) this.reset();
    this.keep();
  }

  setTheme(theme: ThemeChoice): void {
    keepTheme(theme);
    this.store.set({ theme });
    this.clock.touch();
  }

  setView(view: View | null): void {
    this.view = view;
    this.clock.touch();
  }
}
