/** Session: everything that a person can do with the page, as methods; panels and maps call these. */

import { nearestInside, pulledIn, type Point } from "../geometry/polygon";
import { regionOf } from "../geometry/workspace";
import type { Layers, Tool } from "../map/scene";
import type { View } from "../map/view";
import * as api from "../net/api";
import type { Law, Scenario, Template } from "../net/api";
import { Clock, usualSpeed } from "./clock";
import { goingOn, type Places } from "./edits";
import { Hands } from "./hands";
import { Lane } from "./lane";
import { lawLike, withLaw } from "./laws";
import { fragmentOf, recall, remember, scenarioIn, type Memory } from "./link";
import { Store } from "./store";
import { keepAsking } from "./vigil";

export type Panel = "numbers" | "design" | "scenario" | "compare";
export type ThemeChoice = "system" | "light" | "dark";

export interface Notice {
  readonly kind: "error" | "info";
  readonly text: string;
}

export interface AppState {
  templates: readonly Template[];
  scenario: Scenario | null;
  start: Places; // where agents start, also if scattered
  lanes: readonly Lane[];
  version: number; // of the rows that have come
  word: number; // of everything else about the lanes
  tool: Tool;
  layers: Layers;
  selected: number;
  selectedPeak: number;
  selectedCorner: number;
  hovered: number;
  drawing: readonly Point[] | null; // corners of a new polygon
  notice: Notice | null;
  offline: boolean;
  panel: Panel;
  theme: ThemeChoice;
  help: boolean;
}

const LEAST_REST = 1 / 3; // of the horizon: so long a run goes on after a change near its end
const GROW_EVERY = 200; // milliseconds between two redrawings of the charts while rows come

const HINT = "Drag agents to change the start, or press Run.";

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Session {
  readonly store = new Store<AppState>({
    templates: [],
    scenario: null,
    start: [],
    lanes: [],
    version: 0,
    word: 0,
    tool: "agents",
    layers: { heat: true, cells: true, trails: true, holds: true, targets: true, names: false },
    selected: -1,
    selectedPeak: -1,
    selectedCorner: -1,
    hovered: -1,
    drawing: null,
    notice: null,
    offline: false,
    panel: "numbers",
    theme: (localStorage.getItem("dwell.theme") as ThemeChoice | null) ?? "system",
    help: false,
  });
  readonly clock = new Clock(() => this.limit());
  readonly hands = new Hands(this);
  /** What maps show; null: everything. */
  view: View | null = null;
  private readonly past: Scenario[] = [];
  private readonly future: Scenario[] = [];
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
    await this.loadTemplates();
    const memory = recall();
    this.fragment = location.hash;
    if (memory && memory.fragment === location.hash) return this.restore(memory);
    if (await this.openFragment(location.hash)) return;
    const first = this.store.get().templates[0];
    if (first) await this.open(first.scenario);
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
    await this.open(scenario);
    return true;
  }

  private async restore(memory: Memory): Promise<void> {
    await this.open(memory.scenario);
    this.store.set({ panel: memory.panel as Panel });
    this.clock.setSpeed(memory.speed);
    if (!memory.lanes.some((lane) => lane.records.length)) return;
    const lanes = memory.lanes.map((lane) => this.lane(lane.kind));
    this.store.set({ lanes });
    await Promise.all(lanes.map((lane, k) => lane.resume(memory.lanes[k].records)));
    this.wanted = memory.t;
    this.grew();
  }

  /** What a reload needs. */
  private keep(): void {
    const { scenario, lanes, panel } = this.store.get();
    if (!scenario) return;
    remember({
      fragment: this.fragment,
      scenario,
      lanes: lanes.map(({ kind, records }) => ({ kind, records })),
      t: this.clock.t,
      speed: this.clock.speed,
      panel,
    });
  }

  private backAgain(): void {
    if (!this.store.get().templates.length) void this.loadTemplates();
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
  async open(scenario: Scenario): Promise<boolean> {
    try {
      const found = await api.validate(scenario);
      this.closeLanes();
      this.past.length = this.future.length = 0;
      this.view = null;
      this.store.set({ scenario, start: found.start, selected: -1, selectedPeak: -1, selectedCorner: -1, drawing: null });
      this.clock.pause();
      this.clock.setSpeed(usualSpeed(scenario.run.horizon));
      this.clock.seek(0);
      this.say(found.repairs.length ? found.repairs.join(" ") : HINT);
      this.keep();
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
   * everybody is, under the changed scenario.
   */
  async change(scenario: Scenario, places?: (now: Places) => Places): Promise<boolean> {
    const before = this.store.get().scenario;
    if (!before) return false;
    const edit = ++this.edits;
    try {
      const found = await api.validate(scenario);
      if (edit !== this.edits) return false; // a later one has come in between
      this.past.push(before);
      this.future.length = 0;
      this.store.set({ scenario, start: found.start });
    } catch (error) {
      this.fail(error);
      return false;
    }
    this.quiet();
    if (this.underWay) await this.goOn(places);
    else this.reset();
    this.keep();
    return true;
  }

  get underWay(): boolean {
    return this.clock.t > 0 && this.store.get().lanes.some((lane) => lane.timeline.pieces.length > 0);
  }

  async undo(back = true): Promise<void> {
    const from = back ? this.past : this.future;
    const into = back ? this.future : this.past;
    const now = this.store.get().scenario;
    const scenario = from.pop();
    if (!scenario || !now) return this.say(back ? "Nothing to undo." : "Nothing to redo.");
    try {
      const found = await api.validate(scenario);
      into.push(now);
      this.store.set({ scenario, start: found.start });
      this.reset();
    } catch (error) {
      from.push(scenario);
      this.fail(error);
    }
  }

  /** Forget the runs and go back to the beginning. */
  reset(): void {
    this.clock.pause();
    this.closeLanes();
    this.clock.seek(0);
    this.keep();
  }

  private closeLanes(): void {
    const { lanes } = this.store.get();
    for (const lane of lanes) lane.close();
    // Several laws stay side by side; one alone is that of the scenario.
    this.store.set({ lanes: lanes.length > 1 ? lanes.map((lane) => this.lane(lane.kind)) : [] });
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
    const { lanes } = this.store.get();
    if (!lanes.length) return { known: 0, end: 0 };
    return {
      known: Math.min(...lanes.map((lane) => lane.known)),
      end: Math.max(...lanes.map((lane) => lane.end)),
    };
  }

  /** Run the scenario from the beginning, under each of the laws that are shown. */
  async run(play = true): Promise<void> {
    const { scenario } = this.store.get();
    if (!scenario) return;
    this.closeLanes();
    if (!this.store.get().lanes.length) this.store.set({ lanes: [this.lane(scenario.controller.kind)] });
    this.quiet();
    this.clock.seek(0);
    if (play) this.clock.play();
    await this.start((lane) => lane.run(this.under(scenario, lane)));
  }

  private async start(run: (lane: Lane) => Promise<void>): Promise<void> {
    try {
      await Promise.all(this.store.get().lanes.map(run));
    } catch (error) {
      this.clock.pause();
      this.fail(error);
    }
    this.keep();
  }

  private under(scenario: Scenario, lane: Lane): Scenario {
    const law = lane.kind === scenario.controller.kind ? scenario.controller : lawLike(lane.kind, scenario.controller);
    return withLaw(scenario, law);
  }

  /** Go on from where everybody is now, or where `places` puts them. */
  async goOn(places: (now: Places) => Places = (now) => now): Promise<void> {
    const { scenario } = this.store.get();
    if (!scenario) return;
    const { t, jump } = this.clock;
    await this.start(async (lane) => {
      const state = lane.stateAt(t, jump);
      if (!state) return;
      const n = state.dimension;
      const now = Array.from({ length: state.agents }, (_, p) => Array.from(state.positions.subarray(p * n, p * n + n)));
      const horizon = Math.max(lane.timeline.end - t, LEAST_REST * scenario.run.horizon);
      const part = lane.timeline.pieces.length;
      const next = goingOn(this.under(scenario, lane), this.inside(places(now)), horizon, part);
      await lane.run(next, t, lane.jumpAt(t, jump));
    });
  }

  /** Places moved into the workspace, as a changed one may have left some outside. */
  private inside(places: Places): Places {
    const { scenario } = this.store.get();
    if (!scenario) return places;
    return places.map((z) => this.insidePoint(z, scenario));
  }

  insidePoint(z: readonly number[], scenario: Scenario): number[] {
    const region = regionOf(scenario.workspace);
    if (region.bounds) return [Math.min(region.bounds[1], Math.max(region.bounds[0], z[0]))];
    if (region.ring.length < 3) return [...z];
    const found = nearestInside(region.ring, [z[0], z[1]]);
    return found[0] === z[0] && found[1] === z[1] ? [...z] : [...pulledIn(region.ring, found, 1e-3)];
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
    this.clock.seek(Math.min(Math.max(0, t), this.limit().known));
  }

  /** One jump forward or back, on the first lane. */
  step(by: number): void {
    const lane = this.store.get().lanes[0];
    if (!lane?.timeline.pieces.length) return;
    this.clock.pause();
    this.quiet();
    const now = lane.jumpAt(this.clock.t, this.clock.jump);
    const onJump = lane.timeline.timeOf(now) === this.clock.t;
    const jump = Math.min(Math.max(0, by < 0 && !onJump ? now : now + by), lane.timeline.jumps);
    this.clock.seek(lane.timeline.timeOf(jump), jump);
  }

  // The law, several laws, the link, the looks.

  async setLaw(law: Law): Promise<void> {
    const { scenario, lanes } = this.store.get();
    if (!scenario) return;
    const other = law.kind !== scenario.controller.kind;
    if (other) {
      this.reset();
      this.store.set({ lanes: lanes.length > 1 ? lanes.map((lane, k) => this.lane(k ? lane.kind : law.kind)) : [] });
    }
    await this.change(withLaw(scenario, law));
  }

  /** Show so many laws side by side, the scenario's own first. */
  async compare(kinds: readonly string[]): Promise<void> {
    const { scenario } = this.store.get();
    if (!scenario) return;
    this.reset();
    const shown = [...new Set(kinds)].slice(0, 3);
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
    localStorage.setItem("dwell.theme", theme);
    this.store.set({ theme });
    this.clock.touch();
  }

  setView(view: View | null): void {
    this.view = view;
    this.clock.touch();
  }
}
