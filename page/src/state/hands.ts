/** Hands: what can be touched on a map, as edits of the scenario or of the run under way. */

import { peaksOf, type DensityTable } from "../density/density";
import type { Point } from "../geometry/polygon";
import { regionOf } from "../geometry/workspace";
import type { Tool } from "../map/scene";
import type { Scenario } from "../net/api";
import { moved, tidy, withAgent, withHills, withoutAgent, withRing, withStart } from "./edits";
import type { Session } from "./session";

export class Hands {
  constructor(private readonly session: Session) {}

  async moveAgent(which: number, to: readonly number[]): Promise<void> {
    const { scenario, start } = this.session.store.get();
    if (!scenario) return;
    const place = this.session.insidePoint(to, scenario);
    if (this.session.underWay) {
      await this.session.goOn((now) => moved(now, which, place));
      return this.session.say(`Agent ${which} was moved; the others react from here on.`);
    }
    await this.session.change(withStart(scenario, moved(start, which, place.map((v) => tidy(v, this.unit)))));
  }

  /** The length that the screen can tell apart, for rounding. */
  private get unit(): number {
    const scenario = this.session.store.get().scenario;
    const region = scenario && regionOf(scenario.workspace);
    if (region?.bounds) return (region.bounds[1] - region.bounds[0]) / 1000;
    if (!region?.ring.length) return 1e-3;
    const xs = region.ring.map((z) => z[0]);
    return (Math.max(...xs) - Math.min(...xs)) / 1000;
  }

  async addAgent(at: readonly number[]): Promise<void> {
    const { scenario, start } = this.session.store.get();
    if (!scenario) return;
    const place = this.session.insidePoint(at, scenario).map((v) => tidy(v, this.unit));
    if (await this.session.change(withAgent(scenario, start, place), (now) => [...now, place]))
      this.session.store.set({ selected: start.length });
  }

  async removeAgent(which: number): Promise<void> {
    const { scenario, start } = this.session.store.get();
    if (!scenario || which < 0 || which >= start.length) return;
    if (start.length === 1) return this.session.say("One agent must stay.");
    this.session.store.set({ selected: -1, hovered: -1 });
    await this.session.change(withoutAgent(scenario, start, which), (now) => now.filter((_, p) => p !== which));
  }

  async setPeaks(peaks: readonly DensityTable[]): Promise<void> {
    const { scenario } = this.session.store.get();
    const tidied = peaks.map((peak) => ({ ...peak, center: peak.center?.map((v) => tidy(v, this.unit)) }));
    if (scenario) await this.session.change(withHills(scenario, tidied));
  }

  async addPeak(at: readonly number[]): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario) return;
    const peaks = peaksOf(scenario.density);
    const width = 100 * this.unit; // a tenth of the workspace
    const rate = Number((0.5 / (width * width)).toPrecision(3));
    const center = at.map((v) => tidy(v, this.unit));
    await this.setPeaks([...peaks, { kind: "gaussian", center, rate }]);
    this.session.store.set({ selectedPeak: peaks.length });
  }

  async removePeak(which: number): Promise<void> {
    const { scenario } = this.session.store.get();
    const peaks = peaksOf(scenario?.density);
    if (which < 0 || which >= peaks.length) return;
    this.session.store.set({ selectedPeak: -1 });
    await this.setPeaks(peaks.filter((_, k) => k !== which));
  }

  async removeCorner(which: number): Promise<void> {
    const { scenario } = this.session.store.get();
    const ring = scenario ? regionOf(scenario.workspace).ring : [];
    if (which < 0 || which >= ring.length) return;
    if (ring.length <= 3) return this.session.say("A polygon needs three corners.");
    this.session.store.set({ selectedCorner: -1 });
    await this.setRing(ring.filter((_, k) => k !== which));
  }

  /** Remove the agent, peak or corner that is chosen. */
  removeChosen(): void {
    const { tool, selected, selectedPeak, selectedCorner } = this.session.store.get();
    if (tool === "agents") void this.removeAgent(selected);
    else if (tool === "peaks") void this.removePeak(selectedPeak);
    else void this.removeCorner(selectedCorner);
  }

  async setBounds(bounds: readonly [number, number]): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario) return;
    const [a, b] = bounds.map((v) => tidy(v, this.unit));
    const workspace = scenario.workspace.kind === "box" ? { kind: "box", lower: [a], upper: [b] } : { kind: "interval", bounds: [a, b] };
    await this.setWorkspace({ ...scenario, workspace });
  }

  async setRing(ring: readonly Point[]): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario) return;
    const tidied = ring.map((z): Point => [tidy(z[0], this.unit), tidy(z[1], this.unit)]);
    await this.setWorkspace(withRing(scenario, tidied));
  }

  /** A scenario with another workspace; whoever is left outside is moved to its border. */
  private async setWorkspace(next: Scenario): Promise<void> {
    const { start } = this.session.store.get();
    const places = start.map((z) => this.session.insidePoint(z, next));
    const outside = places.some((z, p) => z.some((v, i) => v !== start[p][i]));
    await this.session.change(outside ? withStart(next, places) : next);
    if (outside) this.session.say("Agents that were left outside were moved to the border.");
  }

  setTool(tool: Tool): void {
    this.session.store.set({ tool, drawing: null, selected: -1, selectedPeak: -1, selectedCorner: -1 });
    this.session.clock.touch();
  }

  /** Choose nothing, and give up a drawing that was begun. */
  letGo(): void {
    this.session.store.set({ drawing: null, selected: -1, selectedPeak: -1, selectedCorner: -1 });
    this.session.clock.touch();
  }

  beginDrawing(): void {
    this.session.store.set({ tool: "workspace", drawing: [], selectedCorner: -1 });
    this.session.say("Click the corners of the new workspace on the map, then press Finish.");
  }

  async finishDrawing(): Promise<void> {
    const { drawing } = this.session.store.get();
    if (!drawing || drawing.length < 3) return;
    this.session.store.set({ drawing: null });
    await this.setRing(drawing);
  }
}
