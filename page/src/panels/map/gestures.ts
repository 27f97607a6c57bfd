/**
 * Pointers on a map. What is under one is dragged, and changed when it is let go. Mouse and wheel
 * move the map otherwise; one finger scrolls the page, two move the map.
 */

import type { Point } from "../../geometry/polygon";
import { hit, NEAR, REACH, type Hit } from "../../map/hit";
import { turned } from "../../map/orbit";
import { toWorld, toX, toY } from "../../map/view";
import type { Session } from "../../state/session";
import { Dragging } from "./dragging";
import type { Drag, Shown } from "./scene_of";

const STILL = 4; // pixels that a click may move
const OF_PEAK: ReadonlySet<string> = new Set(["width", "weight"]); // handles of a peak
const SPIN = 0.01; // radians by which a pixel turns space

export class Gestures {
  private readonly hand: Dragging;
  private readonly pointers = new Set<number>();
  private begun: [number, number] = [0, 0];
  private moved = false; // farther than a click may
  private turning: [number, number] | null = null; // where the pointer is that turns space
  private closed = false;
  private readonly off: (() => void)[] = [];

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly session: Session,
    private readonly shown: () => Shown | null,
  ) {
    this.hand = new Dragging(session, shown);
    this.on("pointerdown", (e) => this.down(e));
    this.on("pointermove", (e) => this.move(e));
    this.on("pointerup", (e) => this.up(e));
    this.on("pointercancel", (e) => this.abandon(e));
    this.on("pointerleave", () => this.session.store.set({ hovered: -1 }));
    this.on("touchstart", (e) => this.touched(e), { passive: false });
    this.on("dblclick", (e) => this.add(this.at(e)));
    Promise.all([import("./keyboard"), import("./zooming")])
      .then(([{ Keyboard }, { listenToZoom }]) => {
        if (this.closed) return;
        const keyboard = new Keyboard(session, shown, this.hand);
        this.on("keydown", (e) => keyboard.key(e));
        canvas.dataset["keys"] = "ready";
        const busy = (): boolean => this.holds || this.turning !== null;
        this.off.push(listenToZoom(canvas, session, shown, busy));
      })
      .catch((error: unknown) => session.fail(error));
  }

  get drag(): Drag {
    return this.hand.drag;
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
    this.closed = true;
    this.hand.close();
    for (const off of this.off) off();
  }

  private at(e: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  private world(p: readonly [number, number]): Point {
    const scene = this.shown()?.scene;
    return scene ? toWorld(scene.view, scene.size, p[0], p[1]) : [0, 0];
  }

  /** Whether something is dragged or painted, so that the pointer neither scrolls the page nor moves the map. */
  private get holds(): boolean {
    return this.hand.grip !== null || this.hand.painting.underWay;
  }

  /** It is too late to hold the page when a finger has moved, so that is settled when it comes down. */
  private touched(e: TouchEvent): void {
    if ((this.holds || e.targetTouches.length > 1) && e.cancelable) e.preventDefault();
  }

  private under(p: readonly [number, number], e: PointerEvent): Hit {
    const scene = this.shown()?.scene;
    const near = e.pointerType === "touch" ? REACH : NEAR;
    return scene && !this.session.store.get().drawing ? hit(scene, p[0], p[1], REACH, near) : null;
  }

  private down(e: PointerEvent): void {
    const scene = this.shown()?.scene;
    if (!scene || e.button !== 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    const p = this.at(e);
    this.pointers.add(e.pointerId);
    this.turning = null;
    if (this.pointers.size > 1) return this.hand.drop(); // two fingers move the map
    this.begun = p;
    this.moved = false;
    if (scene.space) {
      if (!e.shiftKey) this.turning = p; // with Shift, the picture is moved as a map is
      return;
    }
    if (this.hand.painting.chosen) return this.hand.paint(this.world(p));
    const under = this.under(p, e);
    if (!this.session.locked) this.hand.take(under);
    if (e.pointerType !== "touch" || under) this.choose(under);
  }

  private choose(grip: Hit): void {
    const is = (kind: string): number =>
      grip && (grip.kind === kind || (kind === "peak" && OF_PEAK.has(grip.kind))) ? grip.which : -1;
    this.session.store.set({ selected: is("agent"), selectedPeak: is("peak"), selectedCorner: is("corner") });
    this.session.clock.touch();
  }

  private move(e: PointerEvent): void {
    const p = this.at(e);
    if (!this.pointers.has(e.pointerId)) return this.hover(p, e);
    this.moved ||= Math.hypot(p[0] - this.begun[0], p[1] - this.begun[1]) > STILL;
    if (this.pointers.size > 1) return;
    if (this.turning) return this.turn(this.turning, p);
    if (this.hand.painting.underWay) this.hand.paint(this.world(p));
    else if (this.hand.grip && (this.moved || this.hand.underWay)) this.hand.dragTo(this.world(p));
  }

  private turn(from: readonly [number, number], to: [number, number]): void {
    const { orbit } = this.session.store.get();
    this.turning = to;
    if (!orbit || !this.moved) return;
    this.session.store.set({ orbit: turned(orbit, SPIN * (from[0] - to[0]), SPIN * (to[1] - from[1])) });
    this.session.clock.touch();
  }

  private hover(p: [number, number], e: PointerEvent): void {
    if (!this.shown()) return;
    const under = this.under(p, e);
    const draws = this.session.store.get().drawing || this.hand.painting.chosen;
    this.canvas.dataset["over"] = draws ? "draw" : (under?.kind ?? "");
    if (this.hand.painting.chosen) this.session.store.set({ cursor: this.world(p) });
    this.session.store.set({ hovered: under?.kind === "agent" ? under.which : -1 });
    this.session.clock.touch();
  }

  private up(e: PointerEvent): void {
    const click = this.pointers.delete(e.pointerId) && !this.pointers.size && !this.moved;
    const { drawing } = this.session.store.get();
    if (drawing && click) this.drawAt(drawing, this.at(e));
    else if (click && !this.holds) this.choose(this.under(this.at(e), e));
    this.turning = null;
    void this.hand.commit();
  }

  /** The browser took the pointer away, for instance to scroll the page: nothing was meant. */
  private abandon(e: PointerEvent): void {
    this.pointers.delete(e.pointerId);
    this.turning = null;
    this.hand.drop();
    void this.hand.commit();
  }

  /** One corner more of a drawing; a click on its first one closes it. */
  private drawAt(drawing: readonly Point[], p: readonly [number, number]): void {
    const scene = this.shown()?.scene;
    if (!scene) return;
    const { view, size } = scene;
    const closes =
      drawing.length > 2 &&
      Math.hypot(toX(view, size, drawing[0][0]) - p[0], toY(view, size, drawing[0][1]) - p[1]) <= NEAR;
    if (closes) void this.session.editor.finishDrawing();
    else this.session.store.set({ drawing: [...drawing, this.world(p)] });
    this.session.clock.touch();
  }

  /** Something more, where the pointer is. */
  private add(p: [number, number]): void {
    const scene = this.shown()?.scene;
    const { tool, drawing } = this.session.store.get();
    const drawn = scene && !scene.shadow && (scene.region.bounds || scene.region.ring.length);
    if (!scene || !drawn || drawing || hit(scene, p[0], p[1], NEAR)) return;
    const z = this.hand.place(this.world(p));
    if (tool === "agents") void this.session.editor.addAgent(z);
    else if (tool === "peaks") void this.session.editor.addPeak(z);
  }
}
