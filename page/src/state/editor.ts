/** Editor: changes made on a map, as edits of the scenario or of the run under way. */

import type { DensityTable } from "../density/density";
import { counterClockwise, isConvex, longestSide, splitSide, type Point } from "../geometry/polygon";
import {
  nextCorners,
  ringsOf,
  withoutCorner,
  withoutRing,
  withRingAdded,
  withSideSplit,
  workspaceOf,
  type Part,
} from "../geometry/rings";
import { clearOf, cornersOf, isDrawn, placeIn, regionOf, widthOf, type Region } from "../geometry/workspace";
import { livesAt, withDensityAt, withWorkspaceAt } from "../world/cut";
import { tableAt, World, worldOf } from "../world/world";
import type { Tool } from "../map/scene";
import type { Scenario } from "../net/api";
import {
  peaksAt,
  moved,
  reshaped,
  tidy,
  withAgent,
  withPeaksAt,
  withoutAgent,
  withRing,
  withStart,
} from "./edits";
import type { Session } from "./session";

const same = (a: readonly number[], b: readonly number[]): boolean => a.every((v, i) => v === b[i]);

export class Editor {
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly session: Session) {}

  /** One after another: each begins with what the one before has made of the scenario. */
  private inTurn(act: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(act, act); // also after one that went wrong
    return this.turn;
  }

  moveAgent(which: number, to: readonly number[]): Promise<void> {
    return this.inTurn(() => this.putAgent(which, to));
  }

  private async putAgent(which: number, to: readonly number[]): Promise<void> {
    const { scenario, start } = this.session.store.get();
    if (!scenario || !this.canTouch()) return;
    const place = this.placed(to);
    const { hasRun } = this.session;
    if (this.session.underWay) {
      const own = this.rankOf(which);
      if (await this.session.goOn((now) => moved(now, own, place)))
        this.session.say(`Agent ${which} was moved; the others react from here on.`);
    } else if (
      which < start.length &&
      (await this.session.change(withStart(scenario, moved(start, which, place))))
    )
      this.session.say(
        `Agent ${which} starts at ${place.join(", ")}.${hasRun ? " Undo (Ctrl+Z) brings the run back." : ""}`,
      );
  }

  /** Whether there is a map to touch; if not, it is said where things can be changed. */
  private canTouch(): boolean {
    if (isDrawn(this.region)) return true;
    this.session.say(
      "In three dimensions and more nothing can be moved on the map: change the text under Scenario.",
    );
    return false;
  }

  /** The time for which the map is touched: on the way that of the clock, else the beginning. */
  private get now(): number {
    return this.session.underWay ? this.session.clock.t : 0;
  }

  private get region(): Region {
    const { scenario } = this.session.store.get();
    return scenario ? new World(worldOf(scenario)).regionAt(this.now) : regionOf({});
  }

  /** How many of those that are present have a smaller number than an agent of the map. */
  private rankOf(which: number): number {
    const present = this.session.present;
    return present ? present.slice(0, which).reduce((sum, here) => sum + here, 0) : which;
  }

  /** The sensor whose peaks the map shows. */
  private get sensor(): number | null {
    const { scenario, selected, sensor } = this.session.store.get();
    return scenario ? (new World(worldOf(scenario)).shown(selected, sensor)[0] ?? null) : null;
  }

  /** The length that the screen can tell apart, for rounding. */
  private get unit(): number {
    return widthOf(this.region) / 1000;
  }

  private rounded(z: readonly number[]): number[] {
    return z.map((v) => tidy(v, this.unit));
  }

  /** In the workspace, and rounded where that does not lead out of it again. */
  private placed(z: readonly number[]): number[] {
    const { region } = this;
    const place = placeIn(region, z);
    const short = this.rounded(place);
    return same(placeIn(region, short), short) ? short : place;
  }

  async addAgent(at: readonly number[]): Promise<void> {
    const { scenario, start } = this.session.store.get();
    if (!scenario || !this.canTouch()) return;
    const place = this.placed(at);
    const first = placeIn(regionOf(scenario.workspace), place); // it is there from the beginning of a later run
    const before = livesAt(scenario, this.now).here.filter((p) => p < start.length).length; // who came later is numbered after it
    const own = this.session.underWay ? before : start.length;
    const added = withAgent(scenario, start, first);
    if (!(await this.session.change(added, (now) => [...now.slice(0, own), place, ...now.slice(own)])))
      return;
    this.session.store.set({ selected: own });
    this.session.say(`Agent ${own} is new, at ${place.join(", ")}.`);
  }

  /** Something more, without a pointer that says where: near the middle, clear of the others. */
  addOne(): Promise<void> {
    return this.inTurn(() => this.addNear());
  }

  private async addNear(): Promise<void> {
    const { tool, scenario, start, selectedCorner } = this.session.store.get();
    if (!scenario || !this.canTouch()) return;
    if (tool === "workspace") return this.addCorner(selectedCorner);
    const others =
      tool === "agents"
        ? start
        : peaksAt(scenario, this.now, this.sensor).map((peak) => tableAt(peak, this.now).center ?? []);
    const at = clearOf(others, this.region);
    return tool === "agents" ? this.addAgent(at) : this.addPeak(at);
  }

  /** A corner on the side that begins at the chosen one, or on the longest. */
  private async addCorner(after: number): Promise<void> {
    const { ring, editable, parts } = this.region;
    if (!editable || !ring.length)
      return this.session.say("This workspace has no vertices to add to; draw a new one.");
    if (parts) return this.addCornerTo(parts, after);
    const side = after >= 0 ? after : longestSide(ring);
    if (await this.setRing(splitSide(ring, side))) this.session.store.set({ selectedCorner: side + 1 });
  }

  private async addCornerTo(parts: readonly Part[], after: number): Promise<void> {
    const corners = cornersOf(this.region);
    const long = nextCorners(ringsOf(parts)).map((next, k) =>
      Math.hypot(corners[k][0] - corners[next][0], corners[k][1] - corners[next][1]),
    );
    const side = after >= 0 ? after : long.indexOf(Math.max(...long));
    if (await this.setParts(withSideSplit(parts, side))) this.session.store.set({ selectedCorner: side + 1 });
  }

  async removeAgent(which: number): Promise<void> {
    const { scenario, start } = this.session.store.get();
    if (!scenario || which < 0) return;
    if (start.length === 1) return this.session.say("One agent must stay.");
    const rank = this.rankOf(which);
    const own = this.session.underWay ? livesAt(scenario, this.now).here[rank] : which; // its number in the scenario
    if (own === undefined) return;
    this.session.store.set({ selected: -1, hovered: -1 });
    await this.session.change(withoutAgent(scenario, start, own), (now) => now.filter((_, p) => p !== rank));
  }

  /** Peaks as they are shown now, of which `which` was dragged. */
  async setPeaks(peaks: readonly DensityTable[], which: number): Promise<boolean> {
    const { scenario } = this.session.store.get();
    if (!scenario) return false;
    const { now: t, sensor } = this;
    const own = peaksAt(scenario, t, sensor);
    const moving = own.some((peak) => tableAt(peak, t) !== peak);
    if (moving && own.length !== peaks.length) {
      this.session.say(
        "The scenario has other peaks by now than are shown at this time; go to a later time, or undo.",
        "error",
      );
      return false;
    }
    const tidied = (peak: DensityTable): DensityTable => ({
      ...peak,
      center: peak.center && this.rounded(peak.center),
    });
    const next = moving
      ? own.map((peak, k) => (k === which ? reshaped(peak, tidied(peaks[k]), t) : peak))
      : peaks.map(tidied);
    if (!(await this.session.change(withPeaksAt(scenario, next, t, sensor)))) return false;
    if (moving && this.session.underWay)
      this.session.say(`Peak ${which + 1} was moved, and goes on from there as it did before.`);
    return true;
  }

  async addPeak(at: readonly number[]): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario || !this.canTouch()) return;
    const { now: t, sensor } = this;
    const peaks = peaksAt(scenario, t, sensor);
    const width = 100 * this.unit; // a tenth of the workspace
    const rate = Number((0.5 / (width * width)).toPrecision(3));
    const next = [...peaks, { kind: "gaussian", center: this.rounded(at), rate }];
    if (await this.session.change(withPeaksAt(scenario, next, t, sensor)))
      this.session.store.set({ selectedPeak: peaks.length });
  }

  async removePeak(which: number): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario) return;
    const { now: t, sensor } = this;
    const peaks = peaksAt(scenario, t, sensor);
    if (which < 0 || which >= peaks.length) return;
    this.session.store.set({ selectedPeak: -1 });
    await this.session.change(
      withPeaksAt(
        scenario,
        peaks.filter((_, k) => k !== which),
        t,
        sensor,
      ),
    );
  }

  async removeCorner(which: number): Promise<void> {
    const { ring, bounds, parts } = this.region;
    if (parts) return this.removeFrom(withoutCorner(parts, which));
    if (bounds) return this.session.say("A line keeps both its ends.");
    if (which < 0 || which >= ring.length) return;
    if (ring.length <= 3) return this.session.say("A polygon needs three vertices.");
    this.session.store.set({ selectedCorner: -1 });
    await this.setRing(ring.filter((_, k) => k !== which));
  }

  /** Remove the ring of the chosen corner. */
  removeRing(): Promise<void> {
    return this.inTurn(async () => {
      const { parts } = this.region;
      if (parts) await this.removeFrom(withoutRing(parts, this.session.store.get().selectedCorner));
    });
  }

  private async removeFrom(parts: readonly Part[]): Promise<void> {
    if (!parts.length) return this.session.say("One part of the workspace must stay.");
    this.session.store.set({ selectedCorner: -1 });
    await this.setParts(parts);
  }

  /** Remove the agent, peak or corner that is chosen. */
  removeChosen(): Promise<void> {
    return this.inTurn(async () => {
      const { tool, selected, selectedPeak, selectedCorner } = this.session.store.get();
      if (tool === "agents") await this.removeAgent(selected);
      else if (tool === "peaks") await this.removePeak(selectedPeak);
      else if (tool === "workspace") await this.removeCorner(selectedCorner);
    });
  }

  async setBounds(bounds: readonly [number, number]): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario) return;
    const [a, b] = bounds.map((v) => tidy(v, this.unit));
    const boxed = new World(worldOf(scenario)).workspaceAt(this.now).kind === "box";
    await this.setWorkspace(
      withWorkspaceAt(
        scenario,
        this.now,
        boxed ? { kind: "box", lower: [a], upper: [b] } : { kind: "interval", bounds: [a, b] },
      ),
    );
  }

  async setRing(ring: readonly Point[]): Promise<boolean> {
    const { scenario } = this.session.store.get();
    if (!scenario) return false;
    const short = ring.map((z): Point => [tidy(z[0], this.unit), tidy(z[1], this.unit)]);
    // Rounded, a corner that hardly turns may turn the wrong way.
    return this.setWorkspace(withRing(scenario, isConvex(short) ? short : ring, this.now));
  }

  /** A workspace of parts and holes; whether agents stay in it is as before. */
  async setParts(parts: readonly Part[]): Promise<boolean> {
    const { scenario } = this.session.store.get();
    if (!scenario) return false;
    const short = (ring: readonly Point[]): Point[] =>
      ring.map((z) => [tidy(z[0], this.unit), tidy(z[1], this.unit)]);
    const stay = new World(worldOf(scenario)).workspaceAt(this.now)["stay"] === true;
    const next = workspaceOf(
      parts.map(({ outer, holes }) => ({ outer: short(outer), holes: holes.map(short) })),
      stay,
    );
    return this.setWorkspace(withWorkspaceAt(scenario, this.now, next));
  }

  /** Another density in place of the one that the map shows. */
  setDensity(density: DensityTable): Promise<boolean> {
    const { scenario } = this.session.store.get();
    return scenario
      ? this.session.change(withDensityAt(scenario, this.now, this.sensor, density))
      : Promise.resolve(false);
  }

  /** A scenario with another workspace; agents that are left outside are moved to its border. */
  private async setWorkspace(next: Scenario): Promise<boolean> {
    const { start } = this.session.store.get();
    const region = regionOf(next.workspace);
    const places = start.map((z) => placeIn(region, z));
    const outside = places.some((z, p) => !same(z, start[p]));
    const done = await this.session.change(outside ? withStart(next, places) : next, (now) => now);
    if (done && outside) this.session.say("Agents that were left outside were moved to the border.");
    return done;
  }

  setTool(tool: Tool): void {
    this.session.store.set({ tool });
    this.letGo();
  }

  /** Choose nothing, and give up a drawing that was begun. */
  letGo(): void {
    this.session.store.set({ drawing: null, cursor: null });
    this.chooseNothing();
  }

  chooseNothing(): void {
    this.session.store.set({ selected: -1, selectedPeak: -1, selectedCorner: -1, hovered: -1 });
    this.session.clock.touch();
  }

  /** What is chosen stays so, as far as it is still there. */
  keepChosen(): void {
    const { scenario, start, selected, selectedPeak, selectedCorner, hovered } = this.session.store.get();
    const { region } = this;
    const kept = (which: number, count: number): number => (which < count ? which : -1);
    this.session.store.set({
      selected: kept(selected, this.session.present?.length ?? start.length),
      hovered: kept(hovered, this.session.present?.length ?? start.length),
      selectedPeak: kept(selectedPeak, scenario ? peaksAt(scenario, this.now, this.sensor).length : 0),
      selectedCorner: kept(selectedCorner, region.bounds ? 2 : cornersOf(region).length),
    });
  }

  /** A new workspace, or with `adding` a ring that becomes a hole where it lies inside and a part where it lies outside. */
  beginDrawing(adding = false): void {
    this.session.store.set({ tool: "workspace", drawing: [], adding, selectedCorner: -1, cursor: null });
    const what = adding ? "of a hole, or of another part outside the workspace," : "of the new workspace";
    this.session.say(`Click the vertices ${what} on the map one after another, then press Finish or Enter.`);
  }

  async finishDrawing(): Promise<void> {
    const { drawing } = this.session.store.get();
    if (!drawing) return;
    if (drawing.length < 3)
      return this.session.say("A ring needs three vertices or more; Escape gives it up.");
    await this.endDrawing();
  }

  /** A drawing that was begun becomes the workspace or a ring of it; one with too few corners is given up. */
  async endDrawing(): Promise<boolean> {
    const { drawing, adding } = this.session.store.get();
    if (!drawing) return true;
    this.session.store.set({ drawing: null, cursor: null });
    const done = drawing.length < 3 || (await this.setDrawn(counterClockwise(drawing), adding));
    if (!done) this.session.store.set({ drawing }); // to be mended
    return done;
  }

  private setDrawn(ring: readonly Point[], adding: boolean): Promise<boolean> {
    if (!adding) return isConvex(ring) ? this.setRing(ring) : this.setParts([{ outer: ring, holes: [] }]);
    const { parts, ring: outer } = this.region;
    return this.setParts(withRingAdded(parts ?? [{ outer, holes: [] }], ring));
  }
}
