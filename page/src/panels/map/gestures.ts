/** Pointer and keys on a map: what is under them is dragged, and changed when it is let go. */

import { moveCorner, splitSide, type Point } from "../../geometry/polygon";
import { withCornerAt, withSideSplit, type Part } from "../../geometry/rings";
import { cornersOf, isDrawn } from "../../geometry/workspace";
import { plain } from "../../map/axes";
import { hit, NEAR, type Hit } from "../../map/hit";
import type { Scene } from "../../map/scene";
import { inSight, panned, toWorld, toX, toY, zoomed, type View } from "../../map/view";
import type { Session } from "../../state/session";
import { Painting } from "./painting";
import { boundsOf, type Drag, type Shown } from "./scene_of";

const STILL = 4; // pixels that a click may move
const COMMIT_AFTER = 350; // milliseconds after the last arrow key

export class Gestures {
  drag: Drag = {};
  private grip: Hit = null;
  private readonly painting: Painting;
  private readonly pointers = new Map<number, [number, number]>();
  private begun: [number, number] = [0, 0];
  private panning = false;
  private resume = false;
  private apart = 0;
  private timer = 0;
  private readonly off: (() => void)[] = [];

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly session: Session,
    private readonly shown: () => Shown | null,
  ) {
    this.painting = new Painting(session, shown);
    this.on("pointerdown", (e) => this.down(e));
    this.on("pointermove", (e) => this.move(e));
    this.on("pointerup", (e) => this.up(e));
    this.on("pointercancel", (e) => this.abandon(e));
    this.on("pointerleave", () => this.session.store.set({ hovered: -1 }));
    this.on("dblclick", (e) => this.add(this.at(e)));
    this.on("keydown", (e) => this.key(e));
    this.on("wheel", (e) => this.wheel(e), { passive: false });
  }

  private on<K extends keyof HTMLElementEventMap>(
    name: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ): void {
    this.canvas.addEventListener(name, listener, options);
    this.off.push(() => this.canvas.removeEventListener(name, listener));
  }

  close(): void {
    clearTimeout(this.timer);
    for (const off of this.off) off();
  }

  private at(e: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  /** Another view; some of the workspace stays in it. */
  private lookAt(scene: Scene, view: View): void {
    this.session.setView(inSight(view, scene.size, boundsOf(scene.region, scene.end)));
  }

  private world(p: readonly [number, number]): Point {
    const scene = this.shown()?.scene;
    return scene ? toWorld(scene.view, scene.size, p[0], p[1]) : [0, 0];
  }

  // Pointers.

  private down(e: PointerEvent): void {
    const scene = this.shown()?.scene;
    if (!scene || e.button !== 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    const p = this.at(e);
    this.pointers.set(e.pointerId, p);
    if (this.pointers.size === 2) return this.beginPinch();
    this.begun = p;
    this.panning = false;
    if (this.painting.chosen) return this.paint(this.world(p));
    this.grip = this.session.store.get().drawing ? null : hit(scene, p[0], p[1]);
    this.choose(this.grip);
    const moves = this.grip?.kind === "agent" || scene.paths.some((one) => one.along.length > 0); // under the pointer
    if (this.grip && moves && this.session.clock.playing) {
      this.resume = true;
      this.session.clock.pause();
    }
  }

  private choose(grip: Hit): void {
    const is = (kind: string): number =>
      grip && (grip.kind === kind || (kind === "peak" && grip.kind === "width")) ? grip.which : -1;
    this.session.store.set({ selected: is("agent"), selectedPeak: is("peak"), selectedCorner: is("corner") });
    this.session.clock.touch();
  }

  private paint(z: Point): void {
    this.drag = { view: this.shown()?.scene.view, density: this.painting.to(z, this.drag.density) };
    this.session.clock.touch();
  }

  private beginPinch(): void {
    this.grip = null;
    this.painting.end();
    this.drag = {};
    this.apart = this.spread();
  }

  private spread(): number {
    const [a, b] = [...this.pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  }

  private move(e: PointerEvent): void {
    const scene = this.shown()?.scene;
    if (!scene) return;
    const p = this.at(e);
    const before = this.pointers.get(e.pointerId);
    if (!before) return this.hover(p);
    this.pointers.set(e.pointerId, p);
    if (this.pointers.size === 2) return this.pinch(p);
    const far = Math.hypot(p[0] - this.begun[0], p[1] - this.begun[1]) > STILL;
    if (this.painting.underWay) this.paint(this.world(p));
    else if (this.grip) {
      if (far || this.drag.agent || this.drag.peaks || this.drag.ring || this.drag.parts || this.drag.bounds)
        this.dragTo(this.world(p));
    } else if (far || this.panning) {
      this.panning = true;
      this.lookAt(scene, panned(scene.view, p[0] - before[0], p[1] - before[1]));
    }
  }

  private hover(p: [number, number]): void {
    const scene = this.shown()?.scene;
    if (!scene) return;
    const under = hit(scene, p[0], p[1]);
    const draws = this.session.store.get().drawing || this.painting.chosen;
    this.canvas.dataset["over"] = draws ? "draw" : (under?.kind ?? "");
    if (this.painting.chosen) this.session.store.set({ cursor: this.world(p) });
    this.session.store.set({ hovered: under?.kind === "agent" ? under.which : -1 });
    this.session.clock.touch();
  }

  private pinch(p: [number, number]): void {
    const scene = this.shown()?.scene;
    const now = this.spread();
    if (scene && this.apart > 0)
      this.lookAt(scene, zoomed(scene.view, scene.size, now / this.apart, p[0], p[1]));
    this.apart = now;
  }

  private dragTo(z: Point): void {
    const shown = this.shown();
    if (!shown || !this.grip || this.session.fixed) return;
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
    else this.dragCorner(z);
    this.session.clock.touch();
  }

  private place(z: Point): number[] {
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
    if (!found.whole) this.session.say("A workspace must stay convex: the corner goes no further.");
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

  private up(e: PointerEvent): void {
    const p = this.at(e);
    const click =
      this.pointers.delete(e.pointerId) &&
      !this.panning &&
      Math.hypot(p[0] - this.begun[0], p[1] - this.begun[1]) <= STILL;
    const { drawing } = this.session.store.get();
    if (drawing && click && !this.pointers.size) this.drawAt(drawing, p);
    void this.commit();
    this.grip = null;
  }

  /** The browser took the pointer away: nothing was meant. */
  private abandon(e: PointerEvent): void {
    this.pointers.delete(e.pointerId);
    this.grip = null;
    this.painting.end();
    this.drag = {};
    void this.commit();
  }

  /** One corner more of a drawing; a click on its first one closes it. */
  private drawAt(drawing: readonly Point[], p: readonly [number, number]): void {
    const scene = this.shown()?.scene;
    if (!scene) return;
    const { view, size } = scene;
    const closes =
      drawing.length > 2 &&
      Math.hypot(toX(view, size, drawing[0][0]) - p[0], toY(view, size, drawing[0][1]) - p[1]) <= NEAR;
    if (closes) void this.session.hands.finishDrawing();
    else this.draw([...drawing, this.world(p)]);
  }

  private draw(points: readonly Point[]): void {
    this.session.store.set({ drawing: points });
    this.session.clock.touch();
  }

  /** Make true what was dragged. */
  private async commit(): Promise<void> {
    const { drag } = this;
    clearTimeout(this.timer);
    this.painting.end();
    const again = this.resume;
    this.resume = false;
    if (drag.agent) await this.session.hands.moveAgent(drag.agent.which, drag.agent.place);
    else if (drag.peaks) await this.session.hands.setPeaks(drag.peaks, drag.which ?? -1);
    else if (drag.ring) await this.session.hands.setRing(drag.ring);
    else if (drag.parts) await this.session.hands.setParts(drag.parts);
    else if (drag.density) await this.session.hands.setDensity(drag.density);
    else if (drag.bounds) await this.session.hands.setBounds(drag.bounds);
    if (this.drag === drag) this.drag = {}; // unless something else is dragged by now
    this.session.clock.touch();
    if (again) this.session.clock.play();
  }

  private wheel(e: WheelEvent): void {
    const scene = this.shown()?.scene;
    if (!scene) return;
    e.preventDefault();
    const [px, py] = this.at(e);
    this.lookAt(scene, zoomed(scene.view, scene.size, Math.exp(-0.0015 * e.deltaY), px, py));
  }

  /** Something more, where the pointer is. */
  private add(p: [number, number]): void {
    const scene = this.shown()?.scene;
    const { tool, drawing } = this.session.store.get();
    const drawn = scene && !scene.shadow && (scene.region.bounds || scene.region.ring.length);
    if (!scene || !drawn || drawing || hit(scene, p[0], p[1], NEAR)) return;
    const z = this.place(this.world(p));
    if (tool === "agents") void this.session.hands.addAgent(z);
    else if (tool === "peaks") void this.session.hands.addPeak(z);
  }

  // Keys.

  private key(e: KeyboardEvent): void {
    if (e.metaKey || e.altKey) return;
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    };
    const step = steps[e.key];
    if (e.ctrlKey && !step) return;
    const used = step
      ? e.ctrlKey
        ? this.pan(step)
        : this.nudge(step, e.shiftKey ? 0.002 : 0.01)
      : this.command(e.key);
    if (!used) return;
    e.preventDefault();
    e.stopPropagation();
  }

  private command(key: string): boolean {
    const scene = this.shown()?.scene;
    if (!scene) return false;
    const middle: [number, number] = [scene.size.width / 2, scene.size.height / 2];
    if (this.drawsBy(scene, key)) return true;
    if (key === "]") this.cycle(1);
    else if (key === "[") this.cycle(-1);
    else if (key === "Delete" || key === "Backspace")
      void this.commit().then(() => this.session.hands.removeChosen());
    else if (key === "Insert" || key === "a" || key === "A")
      void this.commit().then(() => this.session.hands.addOne());
    else if (key === "+" || key === "=") this.lookAt(scene, zoomed(scene.view, scene.size, 1.25, ...middle));
    else if (key === "-") this.lookAt(scene, zoomed(scene.view, scene.size, 0.8, ...middle));
    else if (key === "0") this.session.setView(null);
    else return false;
    return true;
  }

  /** Keys while a ring is drawn or a density is painted: at the cursor, which arrows move. */
  private drawsBy(scene: Scene, key: string): boolean {
    const { drawing, cursor } = this.session.store.get();
    const at = cursor ?? [scene.view.x, scene.view.y];
    const adds = key === "Insert" || key === "a" || key === "A";
    if (drawing && (key === "Delete" || key === "Backspace")) this.draw(drawing.slice(0, -1));
    else if (drawing && adds) {
      this.draw([...drawing, at]);
      this.session.say(`Corner ${drawing.length + 1} at ${at.map(plain).join(", ")}.`);
    } else if (adds && this.painting.chosen) {
      this.paint(at);
      void this.commit();
    } else return false;
    return true;
  }

  private moveCursor(by: (z: readonly number[]) => Point, scene: Scene): boolean {
    const cursor = by(this.session.store.get().cursor ?? [scene.view.x, scene.view.y]);
    this.session.store.set({ cursor });
    this.session.clock.touch();
    return true;
  }

  private cycle(by: number): void {
    const scene = this.shown()?.scene;
    if (!scene) return;
    void this.commit(); // of what was moved before
    const { store } = this.session;
    const next = (now: number, count: number): number =>
      count ? ((((now < 0 ? (by > 0 ? -1 : 0) : now) + by) % count) + count) % count : -1;
    const { tool, selected, selectedPeak, selectedCorner } = store.get();
    if (tool === "agents") {
      let which = next(selected, scene.state.agents);
      for (let k = 0; k < scene.state.agents && !scene.state.present[which]; k++)
        which = next(which, scene.state.agents);
      store.set({ selected: which });
    } else if (tool === "peaks") store.set({ selectedPeak: next(selectedPeak, scene.peaks.length) });
    else if (scene.region.editable)
      store.set({
        selectedCorner: next(selectedCorner, scene.region.bounds ? 2 : cornersOf(scene.region).length),
      });
    this.session.clock.touch();
    this.sayChosen(scene);
  }

  /** What is chosen, in words, for who does not see the map. */
  private sayChosen({ state, peaks, region }: Scene): void {
    const { tool, selected, selectedPeak, selectedCorner } = this.session.store.get();
    const n = state.dimension;
    const told = (name: string, count: number, place: ArrayLike<number> | undefined): void =>
      this.session.say(
        place
          ? `${name} of ${count}, at ${Array.from(place, plain).join(", ")}.`
          : "There is nothing to choose.",
      );
    if (tool === "agents")
      told(`Agent ${selected}`, state.agents, state.positions.subarray(n * selected, n * selected + n));
    else if (tool === "peaks") told(`Peak ${selectedPeak + 1}`, peaks.length, peaks[selectedPeak]?.center);
    else {
      const corners: readonly (readonly number[])[] = region.bounds
        ? region.bounds.map((end) => [end])
        : cornersOf(region);
      told(`Corner ${selectedCorner + 1}`, corners.length, corners[selectedCorner]);
    }
  }

  private pan(step: readonly [number, number]): boolean {
    const scene = this.shown()?.scene;
    if (scene)
      this.lookAt(
        scene,
        panned(scene.view, -0.1 * step[0] * scene.size.width, 0.1 * step[1] * scene.size.height),
      );
    return true;
  }

  /** Move what is chosen by a share of the width; made true after a short rest. */
  private nudge(step: readonly [number, number], share: number): boolean {
    const scene = this.shown()?.scene;
    const { selected, selectedPeak, selectedCorner, tool } = this.session.store.get();
    if (!scene || scene.shadow || !isDrawn(scene.region)) return false;
    const far = (share * scene.size.width) / scene.view.sx;
    const by = (z: readonly number[]): Point => [z[0] + far * step[0], (z[1] ?? 0) + far * step[1]];
    const n = scene.state.dimension;
    if (this.session.store.get().drawing || this.painting.chosen) return this.moveCursor(by, scene);
    if (tool === "agents" && selected >= 0) {
      this.grip = { kind: "agent", which: selected };
      const held = this.drag.agent?.which === selected ? this.drag.agent.place : null; // two keys may come in one frame
      this.dragTo(by(held ?? Array.from(scene.state.positions.subarray(n * selected, n * selected + n))));
    } else if (tool === "peaks" && selectedPeak >= 0) {
      this.grip = { kind: "peak", which: selectedPeak };
      this.dragTo(by(scene.peaks[selectedPeak].center ?? [0, 0]));
    } else if (tool === "workspace" && selectedCorner >= 0) {
      this.grip = { kind: "corner", which: selectedCorner };
      this.dragTo(
        by(
          scene.region.bounds
            ? [scene.region.bounds[selectedCorner]]
            : cornersOf(scene.region)[selectedCorner],
        ),
      );
    } else return false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.commit(), COMMIT_AFTER);
    return true;
  }
}
