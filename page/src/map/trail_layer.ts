/**
 * The paths of a map as a layer that grows with time. Copies of it on the way are kept, so that
 * going back draws a small part anew; while the view moves, the old picture is stretched.
 */

import { Layer } from "./layer";
import { isSame } from "./memo";
import type { Scene, Stretch } from "./scene";
import { drawEnds, drawTrails } from "./trails";
import { toX, toY, type View } from "./view";

const COPIES = 16; // at most, of one map
const BYTES = 64e6; // of the copies of all maps
const LEAST = 2000; // jumps between two copies
const STILL = 140; // milliseconds after which a view that moved stands still

interface Copy {
  readonly layer: Layer;
  readonly drawn: readonly Stretch[];
}

let open = 0; // layers of paths that are in use

/** How many copies of a layer with so many pixels may be kept where several maps are shown. */
export const copiesOf = (pixels: number, maps: number): number =>
  Math.min(COPIES, Math.floor(BYTES / maps / (4 * pixels)));

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
  private sinceCopy = 0;
  private movedAt = -Infinity;
  private seen: View | null = null;
  private timer = 0;

  /** `again` is called when a stretched picture is to be drawn anew; null for a picture or a film, which never goes back. */
  constructor(private readonly again: (() => void) | null) {
    if (again) open++;
  }

  close(): void {
    if (this.again) open--;
    clearTimeout(this.timer);
    this.forget();
    this.layer.release();
  }

  private get most(): number {
    const { width, height } = this.layer.canvas;
    return this.again ? copiesOf(width * height, open) : 0;
  }

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
    if (!this.again || jumps < LEAST || performance.now() - this.movedAt >= STILL) return false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(this.again, STILL + 10);
    return true;
  }

  private forget(): void {
    this.drawn = [];
    this.sinceCopy = 0;
    this.keepOnly(() => false);
  }

  private keepOnly(stays: (copy: Copy, k: number) => boolean): void {
    this.copies = this.copies.filter((copy, k) => {
      const kept = stays(copy, k);
      if (!kept) copy.layer.release();
      return kept;
    });
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
    const apart = Math.max(LEAST, Math.ceil((2 * rows) / this.most));
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
      this.keepOnly((_, k) => k < later);
    }
    const { most } = this;
    if (most < 1) return;
    while (this.copies.length >= most) this.keepOnly((_, k) => k % 2 === 1);
    const layer = new Layer();
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
