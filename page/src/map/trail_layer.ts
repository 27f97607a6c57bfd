/**
 * The paths of a map as a layer that grows with time. Copies of it on the way are kept, so that
 * going back draws a small part anew; while the view moves, the old picture is stretched.
 */

import { isSame, Layer } from "./layer";
import type { Scene, Stretch } from "./scene";
import { drawEnds, drawTrails } from "./trails";
import { toX, toY, type View } from "./view";

const COPIES = 8;
const LEAST = 2000; // jumps between two copies
const STILL = 140; // milliseconds after which a view that moved stands still

interface Copy {
  readonly layer: Layer;
  readonly drawn: readonly Stretch[];
}

/** Whether what is drawn begins what is wanted: all stretches but the last are drawn to their ends. */
const begins = (drawn: readonly Stretch[], wanted: readonly Stretch[]): boolean =>
  drawn.length <= wanted.length &&
  drawn.every(({ arc, jumps }, k) => {
    const most = wanted[k].jumps;
    return arc === wanted[k].arc && (k < drawn.length - 1 ? jumps === most : jumps <= most);
  });

export class TrailLayer {
  private readonly layer = new Layer();
  private shape: readonly unknown[] = [];
  private view: View | null = null;
  private drawn: readonly Stretch[] = [];
  private copies: Copy[] = [];
  private spare: Layer[] = [];
  private sinceCopy = 0;
  private movedAt = -Infinity;
  private seen: View | null = null;
  private timer = 0;

  /** `again` is called when a stretched picture is to be drawn anew. */
  constructor(private readonly again: () => void) {}

  /** Draw the paths that are not there yet, and put all of them on a map. */
  draw(context: CanvasRenderingContext2D, scene: Scene, ratio: number): void {
    const { size, theme, shadow, view } = scene;
    const shape = [size.width, size.height, theme, ratio, shadow];
    const other = !isSame(shape, this.shape);
    if (this.seen && this.seen !== view && !other) this.movedAt = performance.now();
    this.seen = view;
    if (other || !this.view || (view !== this.view && !this.waits())) {
      this.shape = shape;
      this.view = view;
      this.forget();
      this.layer.clear(scene, ratio);
    }
    this.bring(this.view === view ? scene : { ...scene, view: this.view }, ratio);
    this.stamp(context, scene, this.view);
  }

  /** Whether the picture of an old view will do: so much is on it that it is drawn anew only when still. */
  private waits(): boolean {
    const jumps = this.drawn.reduce((sum, one) => sum + one.jumps, 0);
    if (jumps < LEAST || performance.now() - this.movedAt >= STILL) return false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(this.again, STILL + 10);
    return true;
  }

  private forget(): void {
    this.drawn = [];
    this.sinceCopy = 0;
    this.spare.push(...this.copies.map((one) => one.layer));
    this.copies = [];
  }

  /** Bring the layer to the jumps that are wanted, from where it is or from the last copy before. */
  private bring(scene: Scene, ratio: number): void {
    const wanted = scene.stretches;
    if (!begins(this.drawn, wanted)) {
      const copy = this.copies.findLast((one) => begins(one.drawn, wanted));
      this.layer.clear(scene, ratio);
      if (copy) this.layer.context.drawImage(copy.layer.canvas, 0, 0, scene.size.width, scene.size.height);
      this.drawn = copy?.drawn ?? [];
      this.sinceCopy = 0;
    }
    const rows = wanted.reduce((sum, one) => sum + one.arc.events.count, 0);
    const apart = Math.max(LEAST, Math.ceil(rows / COPIES));
    const done = this.drawn.length;
    wanted.forEach((stretch, k) => {
      this.extend(scene, k, apart);
      if (k < wanted.length - 1 && k >= done - 1) drawEnds(this.layer.pen, scene, stretch);
    });
  }

  private extend(scene: Scene, k: number, apart: number): void {
    const wanted = scene.stretches;
    const stretch = wanted[k];
    let from = this.drawn[k]?.jumps ?? 0;
    while (from < stretch.jumps) {
      const to = Math.min(stretch.jumps, from + Math.max(1, apart - this.sinceCopy));
      drawTrails(this.layer.pen, scene, stretch, from, to);
      this.sinceCopy += to - from;
      from = to;
      this.drawn = [...wanted.slice(0, k), { ...stretch, jumps: to }];
      if (this.sinceCopy >= apart) this.keep();
    }
    if (this.drawn.length <= k) this.drawn = wanted.slice(0, k + 1);
  }

  /** Keep a copy of what there is, unless there is one of later; of many, every second one. */
  private keep(): void {
    this.sinceCopy = 0;
    const last = this.copies.at(-1);
    if (last && !begins(last.drawn, this.drawn)) {
      const later = this.copies.findIndex((one) => !begins(one.drawn, this.drawn));
      if (begins(this.drawn, this.copies[later].drawn)) return; // on the same way: it will do again
      this.spare.push(...this.copies.splice(later).map((one) => one.layer));
    }
    if (this.copies.length >= 2 * COPIES) {
      this.spare.push(...this.copies.filter((_, k) => k % 2 === 0).map((one) => one.layer));
      this.copies = this.copies.filter((_, k) => k % 2 === 1);
    }
    const layer = this.spare.pop() ?? new Layer();
    layer.copy(this.layer);
    this.copies.push({ layer, drawn: this.drawn });
  }

  /** Put the layer on a map whose view may be another one by now. */
  private stamp(context: CanvasRenderingContext2D, { view, size }: Scene, old: View): void {
    const { width, height } = size;
    const left = old.x - width / 2 / old.sx;
    const top = old.y + height / 2 / old.sy;
    context.drawImage(
      this.layer.canvas,
      toX(view, size, left),
      toY(view, size, top),
      (width * view.sx) / old.sx,
      (height * view.sy) / old.sy,
    );
  }
}
