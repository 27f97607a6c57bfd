/** Keys on a map: they choose, move, add and remove, and change what is seen. */

import type { Point } from "../../geometry/polygon";
import { cornersOf, isDrawn } from "../../geometry/workspace";
import { plain } from "../../map/ticks";
import type { Scene } from "../../map/scene";
import { turned } from "../../map/orbit";
import { panned, zoomed, type View } from "../../map/view";
import type { Session } from "../../state/session";
import type { Dragging } from "./dragging";
import type { Shown } from "./scene_of";
import { keptInSight } from "./sight";

const TURN = 8; // radians for the whole width
const COMMIT_AFTER = 350; // milliseconds after the last arrow key

export class Keyboard {
  constructor(
    private readonly session: Session,
    private readonly shown: () => Shown | null,
    private readonly hand: Dragging,
  ) {}

  private see(scene: Scene, view: View): void {
    this.session.setView(keptInSight(scene, view));
  }

  private draw(points: readonly Point[]): void {
    this.session.store.set({ drawing: points });
    this.session.clock.touch();
  }

  key(e: KeyboardEvent): void {
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
      void this.hand.commit().then(() => this.session.editor.removeChosen());
    else if (key === "Insert" || key === "a" || key === "A")
      void this.hand.commit().then(() => this.session.editor.addOne());
    else if (key === "+" || key === "=") this.see(scene, zoomed(scene.view, scene.size, 1.25, ...middle));
    else if (key === "-") this.see(scene, zoomed(scene.view, scene.size, 0.8, ...middle));
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
      this.session.say(`Vertex ${drawing.length + 1} at ${at.map(plain).join(", ")}.`);
    } else if (adds && this.hand.painting.chosen) {
      this.hand.paint(at);
      void this.hand.commit();
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
    void this.hand.commit(); // of what was moved before
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
    const sayPlace = (name: string, count: number, place: ArrayLike<number> | undefined): void =>
      this.session.say(
        place
          ? `${name} of ${count}, at ${Array.from(place, plain).join(", ")}.`
          : "There is nothing to choose.",
      );
    if (tool === "agents")
      sayPlace(`Agent ${selected}`, state.agents, state.positions.subarray(n * selected, n * selected + n));
    else if (tool === "peaks")
      sayPlace(`Peak ${selectedPeak + 1}`, peaks.length, peaks[selectedPeak]?.center);
    else {
      const corners: readonly (readonly number[])[] = region.bounds
        ? region.bounds.map((end) => [end])
        : cornersOf(region);
      sayPlace(`Vertex ${selectedCorner + 1}`, corners.length, corners[selectedCorner]);
    }
  }

  private pan(step: readonly [number, number]): boolean {
    const scene = this.shown()?.scene;
    if (scene)
      this.see(
        scene,
        panned(scene.view, -0.1 * step[0] * scene.size.width, 0.1 * step[1] * scene.size.height),
      );
    return true;
  }

  /** See space from farther to the right or from farther up, by some radians. */
  private turn([right, up]: readonly [number, number], by: number): boolean {
    const { orbit } = this.session.store.get();
    if (!orbit) return false;
    const next = turned(orbit, by * right, by * up);
    this.session.store.set({ orbit: next });
    this.session.clock.touch();
    const degrees = (angle: number): string => `${plain(Math.round((180 / Math.PI) * angle))}°`;
    this.session.say(`Seen from ${degrees(next.azimuth)} about z, ${degrees(next.elevation)} above.`);
    return true;
  }

  /** Move what is chosen by a share of the width; made true after a short rest. */
  private nudge(step: readonly [number, number], share: number): boolean {
    const scene = this.shown()?.scene;
    const { selected, selectedPeak, selectedCorner, tool } = this.session.store.get();
    if (scene?.space) return this.turn(step, TURN * share);
    if (!scene || this.session.fixed || scene.shadow || !isDrawn(scene.region)) return false;
    const far = (share * scene.size.width) / scene.view.sx;
    const by = (z: readonly number[]): Point => [z[0] + far * step[0], (z[1] ?? 0) + far * step[1]];
    const n = scene.state.dimension;
    if (this.session.store.get().drawing || this.hand.painting.chosen) return this.moveCursor(by, scene);
    if (tool === "agents" && selected >= 0) {
      this.hand.grip = { kind: "agent", which: selected };
      const held = this.hand.drag.agent?.which === selected ? this.hand.drag.agent.place : null; // two keys may come in one frame
      this.hand.dragTo(
        by(held ?? Array.from(scene.state.positions.subarray(n * selected, n * selected + n))),
      );
    } else if (tool === "peaks" && selectedPeak >= 0) {
      this.hand.grip = { kind: "peak", which: selectedPeak };
      this.hand.dragTo(by(scene.peaks[selectedPeak].center ?? [0, 0]));
    } else if (tool === "workspace" && selectedCorner >= 0) {
      this.hand.grip = { kind: "corner", which: selectedCorner };
      this.hand.dragTo(
        by(
          scene.region.bounds
            ? [scene.region.bounds[selectedCorner]]
            : cornersOf(scene.region)[selectedCorner],
        ),
      );
    } else return false;
    this.hand.commitAfter(COMMIT_AFTER);
    return true;
  }
}
