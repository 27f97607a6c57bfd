/** Session: everything that a person can do with the page, as methods; panels and maps call these. */

import { placeIn, regionOf } from "../geometry/workspace";
import type { View } from "../map/view";
import * as api from "../net/api";
import type { Scenario } from "../net/api";
import { firstState, type AppState, type Notice, type Panel } from "./app";
import { Clock, usualSpeed } from "./clock";
import { goingOn, type Places } from "./edits";
import { Forms } from "./forms";
import { Hands } from "./hands";
import { History } from "./history";
import { Lane } from "./lane";
import { kindsWith, lawLike, MOST_LAWS, withLaw } from "./laws";
import { fragmentOf, keepTheme, recall, remember, scenarioIn, type Memory, type ThemeChoice } from "./link";
import { Store } from "./store";
import { keepAsking } from "./vigil";

const LEAST_REST = 1 / 3; // of the horizon: so long a run goes on after a change near its end
const GROW_EVERY = 200; // milliseconds between two redrawings of the charts while rows come

const HINT = "Drag agents to change the start, or press Run.";

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Session {
  readonly store = new Store<AppState>(firstState());
  readonly clock = new Clock(() => this.limit());
  readonly hands = new Hands(this);
  readonly forms = new Forms(this);
  /** What maps show; null: everything. */
  view: View | null = null;
  private readonly history = new History();
  private growing = 0;
  private edits = 0;
  private fragment = "";
  private wanted: number | null = null; // the time to go to when it is known, after a reload

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
    const lanes = memory.lanes.map((lane) => this.lane(lane.kind));
    this.store.set({ lanes });
    this.wanted = memory.t;
    await Promise.all(lanes.map((lane, k) => lane.resume(memory.lanes[k].records)));
    const since = Math.max(...lanes.map((lane) => lane.timeline.begin));
    if (since > 0) this.say(`What was before t = ${since.toFixed(2)} is not kept by the server.`);
    this.grew();
    return true;
  }

  /** What a reload needs. */
  private keep(): void {
    const { scenario, lanes, panel } = this.store.get();
    if (!scenario) return;
    remember({
      fragment: this.fragment,
      scenario,
      lanes: lanes.map(({ kind, records }) => ({ kind, records })),
      t: this.wanted ?? this.clock.t,
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

  // Scenarios.

  /** Begin anew with a scenario, as it is understood by the server. */
  async open(asked: Scenario): Promise<boolean> {
    const edit = ++this.edits;
    try {
      const { scenario, start, repairs } = await api.validate(asked);
      if (edit !== this.edits) return false; // another one was opened in between
      this.history.clear();
      this.view = null;
      this.store.set({ scenario, start, drawing: null, drafts: [] });
      this.hands.chooseNothing();
      this.reset(scenario.controller.kind);
      this.clock.setSpeed(usualSpeed(scenario.run.horizon));
      this.say(repairs.length ? repairs.join(" ") : HINT);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
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
    const { scenario: before, start } = this.store.get();
    if (!before) return false;
    const edit = ++this.edits;
    try {
      const found = await api.validate(scenario);
      if (edit !== this.edits) return false; // a later one has come in between
      this.history.push({ scenario: before, start });
      this.store.set({ scenario, start: found.start });
    } catch (error) {
      this.fail(error);
      return false;
    }
    this.quiet();
    const other = before.controller.kind !== scenario.controller.kind;
    const anew = other || (!places && !same(before.agents, scenario.agents));
    if (this.underWay && !anew) await this.goOn(places);
    else this.reset(other ? scenario.controller.kind : null);
    this.hands.keepChosen();
    this.keep();
    return true;
  }

  get underWay(): boolean {
    return this.clock.t > 0 && this.store.get().lanes.some((lane) => lane.timeline.pieces.length > 0);
  }

  undo(back = true): void {
    const { scenario, start } = this.store.get();
    const found = scenario && this.history.move({ scenario, start }, back);
    if (!found) return this.say(back ? "Nothing to undo." : "Nothing to redo.");
    this.edits++; // what is being asked for must not overtake it
    this.store.set({ scenario: found.scenario, start: found.start });
    this.hands.keepChosen();
    this.reset(found.scenario.controller.kind === scenario.controller.kind ? null : found.scenario.controller.kind);
    this.say(back ? "The last change is undone." : "The change is there again.");
  }

  /** Forget the runs and go back to the beginning; `own` is the scenario's law, if it is another now. */
  reset(own: string | null = null): void {
    this.clock.pause();
    this.closeLanes(own);
    this.clock.seek(0);
    this.keep();
  }

  /** Several laws stay side by side, a new one of the scenario among them; one alone is that. */
  private closeLanes(own: string | null = null): void {
    const { lanes } = this.store.get();
    this.wanted = null;
    for (const lane of lanes) lane.close();
    const before = lanes.map((lane) => lane.kind);
    const kinds = own ? kindsWith(own, before) : before;
    this.store.set({ lanes: kinds.length > 1 ? kinds.map((kind) => this.lane(kind)) : [] });
  }

  // Runs.

  private lane(kind: string): Lane {
    return new Lane(kind, { changed: () => this.changed(), grew: () => this.grew() });
  }

  private changed(): void {
    this.store.set({ word: this.store.get().word + 1 });
    this.clock.touch();
    this.keep();
  }

  private grew(): void {
    this.clock.touch();
    if (this.wanted !== null && this.limit().known >= this.wanted) this.seek(this.wanted);
    if (this.growing) return;
    this.growing = window.setTimeout(() => {
      this.growing = 0;
      this.store.set({ version: this.store.get().version + 1 });
    }, GROW_EVERY);
  }

  private limit(): { known: number; end: number } {
    // A law that cannot be run does not keep the others from it.
    const lanes = this.store.get().lanes.filter((lane) => lane.working || lane.timeline.pieces.length > 0);
    if (!lanes.length) return { known: 0, end: 0 };
    return {
      known: Math.min(...lanes.map((lane) => lane.known)),
      end: Math.max(...lanes.map((lane) => lane.end)),
    };
  }

  /** How long everything lasts that there is to show. */
  get end(): number {
    const { lanes, scenario } = this.store.get();
    return Math.max(0, ...lanes.map((lane) => lane.timeline.end)) || scenario?.run.horizon || 1; // 0 is a horizon, too
  }

  /** How many jumps a lane shows. The clock's own jump is one of the first lane. */
  jumpOf(lane: Lane): number {
    const { t, jump } = this.clock;
    return jump !== null && lane === this.store.get().lanes[0] ? jump : lane.timeline.jumpsUntil(t);
  }

  /** Run the scenario from the beginning, under each of the laws that are shown. */
  async run(play = true): Promise<void> {
    if (!(await this.forms.ready())) return;
    const { scenario } = this.store.get();
    if (!scenario) return;
    this.closeLanes();
    if (!this.store.get().lanes.length) this.store.set({ lanes: [this.lane(scenario.controller.kind)] });
    this.quiet();
    this.clock.seek(0);
    if (play) this.clock.play();
    await this.start((lane) => lane.run(this.under(scenario, lane)));
  }

  private async start(run: (lane: Lane) => Promise<void>): Promise<boolean> {
    const done = await Promise.allSettled(this.store.get().lanes.map(run));
    const wrong = done.find((one) => one.status === "rejected");
    if (wrong) {
      this.clock.pause();
      this.fail(wrong.reason);
    }
    this.keep();
    return !wrong;
  }

  private under(scenario: Scenario, lane: Lane): Scenario {
    const law = lane.kind === scenario.controller.kind ? scenario.controller : lawLike(lane.kind, scenario.controller);
    return withLaw(scenario, law);
  }

  /** Go on from where everybody is now, or where `places` puts them. */
  async goOn(places: (now: Places) => Places = (now) => now): Promise<boolean> {
    const { scenario } = this.store.get();
    if (!scenario) return false;
    const region = regionOf(scenario.workspace); // a changed one may have left some outside
    const { t } = this.clock;
    return this.start(async (lane) => {
      const jump = this.jumpOf(lane);
      const state = lane.stateAt(t, jump);
      if (!state) return;
      const n = state.dimension;
      const now = Array.from({ length: state.agents }, (_, p) => Array.from(state.positions.subarray(p * n, p * n + n)));
      const horizon = Math.max(lane.timeline.end - t, LEAST_REST * scenario.run.horizon);
      const part = lane.timeline.pieces.length;
      const next = goingOn(this.under(scenario, lane), places(now).map((z) => placeIn(region, z)), horizon, part);
      await lane.run(next, t, jump);
    });
  }

  // Time.

  async playOrPause(): Promise<void> {
    if (this.clock.playing) return this.clock.pause();
    const { lanes } = this.store.get();
    const none = !lanes.length || lanes.some((lane) => !lane.timeline.pieces.length && !lane.working);
    if (none) return this.run();
    if (this.clock.t >= this.limit().end) this.clock.seek(0);
    this.quiet();
    this.clock.play();
  }

  seek(t: number): void {
    this.wanted = null;
    const begin = Math.max(0, ...this.store.get().lanes.map((lane) => lane.timeline.begin));
    this.clock.seek(Math.max(begin, Math.min(t, this.limit().known)));
  }

  /** One jump forward or back, on the first lane. */
  step(by: number): void {
    const lane = this.store.get().lanes[0];
    if (!lane?.timeline.pieces.length) return;
    this.clock.pause();
    this.quiet();
    const now = this.jumpOf(lane);
    const onJump = lane.timeline.timeOf(now) === this.clock.t;
    const jump = Math.min(Math.max(lane.timeline.pieces[0].jumps, by < 0 && !onJump ? now : now + by), lane.timeline.jumps);
    this.clock.seek(lane.timeline.timeOf(jump), jump);
  }

  // Several laws, the link, the looks.

  /** Show so many laws side by side, the scenario's own first. */
  async compare(kinds: readonly string[]): Promise<void> {
    if (!(await this.forms.ready())) return;
    const { scenario } = this.store.get();
    if (!scenario) return;
    this.reset();
    const shown = [...new Set(kinds)].slice(0, MOST_LAWS);
    this.store.set({ lanes: shown.map((kind) => this.lane(kind)), selected: -1 });
    if (shown.length > 1) await this.run(false);
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
