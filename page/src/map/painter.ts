/**
 * Painter: draws scenes on a canvas. What changes seldom (ground, paths) is kept on layers of its
 * own, so that a frame costs what moves. The same drawing goes into an SVG file.
 */

import type { Density } from "../density/density";
import { PLANE } from "../geometry/shadow";
import { isDrawn } from "../geometry/workspace";
import { drawAbout, drawRangeKey, drawScale } from "./legend";
import { drawLine, drawLineGround } from "./line";
import { CanvasPen, SvgPen, type Pen } from "./pen";
import { drawGround, drawPlane } from "./plane";
import type { Scene, Stretch } from "./scene";
import { drawHeads, drawTrails } from "./trails";

const canDraw = (scene: Scene): boolean => isDrawn(scene.region);

class Layer {
  readonly canvas = document.createElement("canvas");
  readonly context = this.canvas.getContext("2d") as CanvasRenderingContext2D;
  readonly pen = new CanvasPen(this.context);
  key: readonly unknown[] = [];

  /** Empty and of the right size, if the key is another one than before; whether it is. */
  renew(scene: Scene, ratio: number, key: readonly unknown[]): boolean {
    const same = key.length === this.key.length && key.every((one, k) => one === this.key[k]);
    if (same) return false;
    this.key = key;
    resize(this.canvas, this.context, scene, ratio);
    return true;
  }
}

function resize(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  scene: Scene,
  ratio: number,
): void {
  const width = Math.round(scene.size.width * ratio);
  const height = Math.round(scene.size.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, scene.size.width, scene.size.height);
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly pen: CanvasPen;
  private readonly ground = new Layer();
  private readonly trails = new Layer();
  private drawn: readonly Stretch[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.pen = new CanvasPen(this.context);
  }

  draw(scene: Scene, density: Density | null, ratio = window.devicePixelRatio || 1): void {
    const { view, size, theme, region, layers, heat } = scene;
    const shape = [view, size.width, size.height, theme, ratio, scene.shadow];
    if (
      this.ground.renew(scene, ratio, [
        ...shape,
        region,
        heat,
        layers.heat,
        scene.end,
        region.bounds && density,
      ])
    )
      paintGround(this.ground.pen, scene, density);
    if (this.trails.renew(scene, ratio, shape)) this.drawn = [];
    const trails = layers.trails && canDraw(scene);
    if (trails) this.extendTrails(scene, ratio);
    resize(this.canvas, this.context, scene, ratio);
    this.context.fillStyle = theme.paper;
    this.context.fillRect(0, 0, size.width, size.height);
    this.stamp(this.ground, scene);
    if (trails) this.stamp(this.trails, scene);
    paintOver(this.pen, scene);
  }

  private stamp(layer: Layer, scene: Scene): void {
    this.context.drawImage(layer.canvas, 0, 0, scene.size.width, scene.size.height);
  }

  /** Draw the paths that are not there yet; anew where time went back. */
  private extendTrails(scene: Scene, ratio: number): void {
    const wanted = scene.stretches;
    const last = this.drawn.length - 1;
    const goesOn =
      this.drawn.length <= wanted.length &&
      this.drawn.every(
        (old, k) =>
          old.arc === wanted[k].arc &&
          (k < last ? old.jumps === wanted[k].jumps : old.jumps <= wanted[k].jumps),
      );
    if (!goesOn) {
      resize(this.trails.canvas, this.trails.context, scene, ratio);
      this.drawn = [];
    }
    wanted.forEach((stretch, k) => {
      const from = this.drawn[k]?.jumps ?? 0;
      if (stretch.jumps > from) trail(this.trails.pen, scene, stretch, from);
    });
    this.drawn = wanted;
  }
}

function trail(pen: Pen, scene: Scene, stretch: Stretch, from: number): void {
  drawTrails(
    pen,
    stretch.arc,
    from,
    stretch.jumps,
    stretch.offset,
    scene.view,
    scene.size,
    scene.theme,
    scene.shadow?.axes ?? PLANE,
  );
}

function paintGround(pen: Pen, scene: Scene, density: Density | null): void {
  if (scene.region.dimension === 2) {
    drawGround(pen, scene);
    drawScale(pen, scene);
  } else if (scene.region.bounds) drawLineGround(pen, scene, density);
}

function paintOver(pen: Pen, scene: Scene): void {
  const live = scene.stretches[scene.stretches.length - 1];
  const flat = scene.region.dimension === 2;
  if (!canDraw(scene)) return;
  if (scene.layers.trails && scene.running && live)
    drawHeads(
      pen,
      live.arc,
      scene.state,
      live.offset,
      scene.view,
      scene.size,
      scene.theme,
      scene.shadow?.axes ?? PLANE,
    );
  if (flat) drawPlane(pen, scene);
  else drawLine(pen, scene);
  if (flat) drawRangeKey(pen, scene);
  drawAbout(pen, scene);
}

/** The same picture as an SVG file. */
export function toSvg(scene: Scene, density: Density | null): string {
  const pen = new SvgPen(scene.size.width, scene.size.height);
  paintGround(pen, scene, density);
  if (scene.layers.trails && canDraw(scene))
    for (const stretch of scene.stretches) trail(pen, scene, stretch, 0);
  paintOver(pen, scene);
  return pen.finish(scene.theme.paper);
}
