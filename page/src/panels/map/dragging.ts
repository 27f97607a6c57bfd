/** What is being dragged on a map, by pointer or by key, and how it becomes true when it is let go. */

import { moveCorner, splitSide, type Point } from "../../geometry/polygon";
import { withCornerAt, withSideSplit, type Part } from "../../geometry/rings";
import { weightAt } from "../../map/handles";
import type { Hit } from "../../map/hit";
import type { View } from "../../map/view";
import type { Session } from "../../state/session";
import { Painting } from "./painting";
import type { Drag, Shown } from "./scene_of";

export class Dragging {
  drag: Drag = {};
  grip: Hit = null;
  readonly painting: Painting;
  private resume = false;
  private timer = 0;

  constructor(
    private readonly session: Session,
    private readonly shown: () => Shown | null,
  ) {
    this.painting = new Painting(session, shown);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  /** Take hold of something; what moves stands still meanwhile. */
  take(grip: Hit): void {
    if (this.underWay) void this.commit(); // of what keys moved before
    this.grip = grip;
    const moves = grip?.kind === "agent" || this.shown()?.scene.paths.some((one) => one.along.length > 0);
    if (grip && moves && this.session.clock.playing) {
      this.resume = true;
      this.session.clock.pause();
    }
  }

  /** Whether something was moved that is not yet let go. */
  get underWay(): boolean {
    const { agent, peaks, ring, parts, bounds } = this.drag;
    return Boolean(agent ?? peaks ?? ring ?? parts ?? bounds);
  }

  /** Nothing of it was meant. */
  drop(): void {
    this.grip = null;
    this.painting.end();
    this.drag = {};
  }

  /** Let go after a short rest: keys come one after the other. */
  commitAfter(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.commit(), milliseconds);
  }

  dragTo(z: Point): void {
    const shown = this.shown();
    if (!shown || !this.grip || this.session.locked) return;
    const { scene } = shown;
    const { kind, which } = this.grip;
    const { view } = scene;
    if (kind === "agent")
      this.drag = { view, agent: { which, place: scene.state.dimension === 1 ? [z[0]] : z } };
    else if (kind === "peak")
      this.drag = {
        view,
        which,
        peaks: scene.peaks.map((p, k) => (k === which ? { ...p, center: this.place(z) } : p)),
      };
    else if (kind === "width") this.drag = { view, which, peaks: this.widened(which, z) };
    else if (kind === "weight") this.drag = { view, which, peaks: this.weighted(which, z) };
    else this.dragCorner(z);
    this.session.clock.touch();
  }

  place(z: Point): number[] {
    return this.shown()?.scene.region.dimension === 1 ? [z[0]] : [...z];
  }

  private widened(which: number, z: Point): typeof this.drag.peaks {
    const peaks = this.shown()?.scene.peaks ?? [];
    return peaks.map((peak, k) => {
      if (k !== which) return peak;
      const center = peak.center ?? [0, 0];
      const width = Math.max(1e-6, Math.hypot(z[0] - center[0], z[1] - center[1]));
      const { covariance: _, ...rest } = peak;
      return { ...rest, rate: Number((0.5 / (width * width)).toPrecision(4)) };
    });
  }

  private weighted(which: number, z: Point): typeof this.drag.peaks {
    const scene = this.shown()?.scene;
    return scene?.peaks.map((peak, k) => {
      const lift = (z[1] - (peak.center?.[1] ?? 0)) * scene.view.sy;
      return k === which ? { ...peak, weight: weightAt(lift) } : peak;
    });
  }

  private dragCorner(z: Point): void {
    const scene = this.shown()?.scene;
    if (!scene || !this.grip) return;
    if (scene.region.bounds) return this.dragEnd(scene.region.bounds, z[0], scene.view);
    if (scene.region.parts) return this.dragCornerOf(scene.region.parts, z, scene.view);
    if (this.grip.kind === "side") {
      this.drag = { view: scene.view, ring: splitSide(scene.region.ring, this.grip.which) };
      this.grip = { kind: "corner", which: this.grip.which + 1 };
      this.session.store.set({ selectedCorner: this.grip.which });
      return;
    }
    const found = moveCorner(this.drag.ring ?? scene.region.ring, this.grip.which, z);
    this.drag = { view: scene.view, ring: found.ring };
    if (!found.whole) this.session.say("A workspace must stay convex: the vertex goes no further.");
  }

  private dragCornerOf(parts: readonly Part[], z: Point, view: View): void {
    const { kind, which } = this.grip ?? { kind: "", which: -1 };
    if (kind === "side") {
      this.drag = { view, parts: withSideSplit(parts, which) };
      this.grip = { kind: "corner", which: which + 1 };
      this.session.store.set({ selectedCorner: which + 1 });
    } else this.drag = { view, parts: withCornerAt(this.drag.parts ?? parts, which, z) };
  }

  private dragEnd(ends: readonly [number, number], x: number, view: View): void {
    const least = 0.01 * (ends[1] - ends[0]);
    const first = this.grip?.which === 0;
    const bounds = first
      ? ([Math.min(x, ends[1] - least), ends[1]] as const)
      : ([ends[0], Math.max(x, ends[0] + least)] as const);
    this.drag = { view, bounds };
  }

  /** Make true what was dragged. */
  async commit(): Promise<void> {
    const { drag } = this;
    clearTimeout(this.timer);
    const painted = drag.density && this.painting.changes(drag.density);
    this.painting.end();
    this.grip = null;
    const again = this.resume;
    this.resume = false;
    if (drag.agent) await this.session.editor.moveAgent(drag.agent.which, drag.agent.place);
    else if (drag.peaks) await this.session.editor.setPeaks(drag.peaks, drag.which ?? -1);
    else if (drag.ring) await this.session.editor.setRing(drag.ring);
    else if (drag.parts) await this.session.editor.setParts(drag.parts);
    else if (drag.density && painted) await this.session.editor.setDensity(drag.density);
    else if (drag.density) this.session.say("Nothing painted.");
    else if (drag.bounds) await this.session.editor.setBounds(drag.bounds);
    if (this.drag === drag) this.drag = {}; // unless something else is dragged by now
    this.session.clock.touch();
    if (again) this.session.clock.play();
  }

  paint(z: Point): void {
    this.drag = { view: this.shown()?.scene.view, density: this.painting.to(z, this.drag.density) };
    this.session.clock.touch();
  }
}
