/** Session: everything that a person can do with the page, as methods; panels and maps call these. */

import { PLANE } from "../geometry/shadow";
import { isDrawn, regionOf } from "../geometry/workspace";
import type { View } from "../map/view";
import * as api from "../net/api";
import type { Scenario } from "../net/api";
import type { Recording } from "../net/recorded";
import { firstState, type AppState, type Notice, type Panel } from "./app";
import { Clock, usualSpeed } from "./clock";
import type { Places } from "./edits";
import { Forms } from "./forms";
import { Hands } from "./hands";
import { History, type Step } from "./history";
import type { Lane } from "./lane";
import { MOST_LAWS } from "./laws";
import { fragmentOf, keepTheme, recall, remember, scenarioIn, type Memory, type ThemeChoice } from "./link";
import { Runs } from "./runs";
import { Store } from "./store";
import { keepAsking } from "./vigil";
import { worldOf } from "../world/world";

const HINT = "Drag agents to change the start, or press Run.";
const HINT_UNDER_WAY = "Drag agents to change the run from here on, or press Play.";
const HINT_SPACE = "Press Run. The map shows two axes of this workspace; changes are made under Scenario.";

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const livesOf = (scenario: Scenario): unknown => {
  const { arrivals, departures } = worldOf(scenario);
  return [arrivals, departures];
};

/** What is said of agents, but for how far they sense: that may change on the way. */
const teamOf = ({ agents }: Scenario): unknown => ({ ...agents, radius: null });

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Session {
  readonly store = new Store<AppState>(firstState());
  readonly clock: Clock = new Clock(() => this.runs.limit());
  private readonly runs: Runs = new Runs(this);
  readonly hands = new Hands(this);
  readonly forms = new Forms(this);
  /** What maps show; null: everything. */
  view: View | null = null;
  private readonly history = new History();
  private edits = 0;
  private fragment = "";

  /** A fixed session shows recorded runs and changes nothing: there is no server. */
  constructor(readonly fixed = false) {}

  // Beginning.

  async begin(): Promise<void> {
    this.clock.onChange(() => this.keep());
    addEventListener("pagehide", () => this.keep());
    addEventListener("hashchange", () => void this.openFragment(location.hash));
    keepAsking(this.store, () => this.backAgain());
    await this.beginWith(recall());
  }

  /** What the tab had before a reload, else what the link holds, else the first template. */
  private async beginWith(memory: Memory | null): Promise<void> {
    await this.loadTemplates();
    this.fragment = location.hash;
    if (memory && memory.fragment === location.hash && (await this.restore(memory))) return;
    if (await this.openFragment(location.hash)) return;
    const wrong = this.store.get().notice; // of the link or the memory; it must not be lost
    const first = this.store.get().templates[0];
    if (first && (await this.open(first.scenario)) && wrong) this.store.set({ notice: wrong });
  }

  private async loadTemplates(): Promise<void> {
    try {
      const templates = await api.templates();
      this.store.set({ templates, offline: false });
    } catch (error) {
      this.fail(error);
    }
  }

  private async openFragment(fragment: string): Promise<boolean> {
    if (!fragment.startsWith("#s=")) return false;
    this.fragment = fragment;
    const scenario = await scenarioIn(fragment);
    if (!scenario) {
      this.say("The link holds no scenario that can be read.", "error");
      return false;
    }
    return this.open(scenario);
  }

  private async restore(memory: Memory): Promise<boolean> {
    if (!(await this.open(memory.scenario))) return false;
    this.store.set({ panel: memory.panel as Panel });
    this.clock.setSpeed(memory.speed);
    if (!memory.lanes.some((lane) => lane.records.length)) return true;
    const lanes = memory.lanes.map((lane) => this.runs.lane(lane.kind));
    this.store.set({ lanes });
    this.runs.wanted = memory.t;
    await Promise.all(lanes.map((lane, k) => lane.resume(memory.lanes[k].records)));
    const since = Math.max(...lanes.map((lane) => lane.timeline.begin));
    if (since > 0) this.say(`What was before t = ${since.toFixed(2)} is not kept by the server.`);
    else if (memory.t > 0 && this.touchable) this.say(HINT_UNDER_WAY);
    this.runs.grew();
    return true;
  }

  /** What a reload needs. */
  keep(): void {
    const { scenario, lanes, panel } = this.store.get();
    if (!scenario || this.fixed) return;
    remember({
      fragment: this.fragment,
      scenario,
      lanes: lanes.map(({ kind, records }) => ({ kind, records })),
      t: this.runs.wanted ?? this.clock.t,
      speed: this.clock.speed,
      panel,
    });
  }

  private backAgain(): void {
    if (!this.store.get().scenario) return void this.beginWith(recall());
    this.say("The server is there again.");
  }

  // Saying.

  say(text: string, kind: Notice["kind"] = "info"): void {
    this.store.set({ notice: { kind, text } });
  }

  quiet(): void {
    this.store.set({ notice: null });
  }

  fail(error: unknown): void {
    if (error instanceof api.Unreachable) this.store.set({ offline: true });
    this.say(sentence(error), "error");
  }

  /** Whether there is a map on which things can be moved. */
  get touchable(): boolean {
    return isDrawn(regionOf(this.store.get().scenario?.workspace ?? {}));
  }

  // Scenarios.

  /** Begin anew with a scenario, as it is understood by the server. */
  async open(asked: Scenario): Promise<boolean> {
    const edit = ++this.edits;
    try {
      const { scenario, start, repairs } = await api.validate(asked);
      if (edit !== this.edits) return false; // another one was opened in between
      this.take(scenario, start);
      this.say(repairs.length ? repairs.join(" ") : this.touchable ? HINT : HINT_SPACE);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  private take(scenario: Scenario, start: Places): void {
    this.history.clear();
    this.view = null;
    this.store.set({ scenario, start, drawing: null, drafts: [], axes: PLANE, sensor: 0 });
    this.hands.chooseNothing();
    this.reset(scenario.controller.kind);
    this.clock.setSpeed(usualSpeed(scenario.run.horizon));
  }

  /** Show recorded runs side by side, at their beginning; the server is not asked. */
  showRecorded(runs: readonly Recording[]): void {
    this.edits++; // what is being asked for must not overtake it
    this.take(runs[0].scenario, runs[0].start);
    const lanes = runs.map((run) => this.runs.lane(run.scenario.controller.kind));
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
   * everybody is, or where `places` puts them, under the changed scenario. Another law or another
   * start begin anew.
   */
  async change(scenario: Scenario, places?: (now: Places) => Places): Promise<boolean> {
    const { scenario: before } = this.store.get();
    if (!before || this.fixed) return false;
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
    const other = before.controller.kind !== scenario.controller.kind;
    const anew =
      other ||
      (!places && !(same(teamOf(before), teamOf(scenario)) && same(livesOf(before), livesOf(scenario))));
    const taken =
      this.underWay && !anew ? await this.fork(places) : this.reset(other ? scenario.controller.kind : null);
    this.hands.keepChosen();
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
    this.edits++; // what is being asked for must not overtake it
    this.store.set({ scenario: found.scenario, start: found.start });
    const { kind } = found.scenario.controller;
    if (found.shown) this.runs.bring(found.shown);
    else this.reset(kind === now.scenario.controller.kind ? null : kind);
    this.hands.keepChosen();
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
    if (this.fixed || !(await this.forms.ready())) return;
    if (!(await this.hands.endDrawing())) return;
    const { scenario, lanes } = this.store.get();
    if (scenario)
      await this.launch(lanes.length > 1 ? lanes.map((lane) => lane.kind) : [scenario.controller.kind], play);
  }

  private async launch(kinds: readonly string[], play: boolean): Promise<void> {
    const { scenario } = this.store.get();
    if (!scenario) return;
    this.quiet();
    const answer = await this.runs.launch(scenario, kinds);
    if (answer === "late" || answer === "none") return;
    this.clock.pause();
    this.clock.seek(0);
    if (play && answer === "all") this.clock.play();
    this.keep();
  }

  /** Go on from where everybody is now, or where `places` puts them. */
  async goOn(places?: (now: Places) => Places): Promise<boolean> {
    if (this.fixed) return false;
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
    if (before) this.store.set({ scenario: before.scenario, start: before.start });
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

  // Several laws, the link, the looks.

  /** Show so many laws side by side, the scenario's own first. */
  async compare(kinds: readonly string[]): Promise<void> {
    if (!(await this.forms.ready())) return;
    const { scenario } = this.store.get();
    if (!scenario) return;
    const shown = [...new Set(kinds)].slice(0, MOST_LAWS);
    this.store.set({ selected: -1 });
    if (shown.length > 1) return this.launch(shown, true);
    const kept = this.store
      .get()
      .lanes.filter((lane) => lane.kind === shown[0] && lane.timeline.pieces.length > 0);
    this.runs.forgetAsked();
    this.runs.show(kept);
    if (!kept.length) this.reset();
    this.keep();
  }

  async link(): Promise<string> {
    const { scenario } = this.store.get();
    if (!scenario) return location.href;
    this.fragment = await fragmentOf(scenario);
    history.replaceState(null, "", this.fragment);
    this.keep();
    return location.href;
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
