/**
 * Painter: draws scenes on a canvas. What changes seldom (ground, paths) is kept on layers of its
 * own, so that a frame costs what moves.
 */

import type { Density } from "../density/density";
import { isDrawn } from "../geometry/workspace";
import { Layer, resize } from "./layer";
import { drawAbout, drawEmpty, drawRangeKey, drawScale } from "./legend";
import { CanvasPen, type Pen } from "./pen";
import { drawGround, drawPlane } from "./plane";
import type { Scene } from "./scene";
import { TrailLayer } from "./trail_layer";
import { drawHeads } from "./trails";

export const canDraw = (scene: Scene): boolean => isDrawn(scene.region);

let fonts = false; // whether the page's own font is there: words on a layer are drawn anew with it
const arrival = globalThis.document?.fonts?.ready.then(() => void (fonts = true));

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly pen: CanvasPen;
  private readonly ground = new Layer();
  private readonly trails: TrailLayer;

  /** `again` is called when the picture is to be drawn anew: what moved stands still, or the font has arrived. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    again: (() => void) | null = null,
  ) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.pen = new CanvasPen(this.context);
    this.trails = new TrailLayer(again);
    if (again) void arrival?.then(again);
  }

  close(): void {
    this.trails.close();
    this.ground.release();
  }

  draw(scene: Scene, density: Density | null, ratio = window.devicePixelRatio || 1): void {
    const { view, size, theme, region, layers, heat } = scene;
    if (scene.space) return this.drawSpace(scene, density, ratio);
    const shape = [view, size.width, size.height, theme, ratio, scene.shadow, scene.frame];
    const shown = [
      region,
      heat,
      layers.heat,
      layers.holds,
      scene.end,
      scene.speed,
      scene.scaled,
      scene.line,
      fonts,
    ];
    if (this.ground.renew(scene, ratio, [...shape, ...shown, region.bounds && density]))
      paintGround(this.ground.pen, scene, density);
    resize(this.canvas, this.context, scene, ratio);
    this.context.fillStyle = theme.paper;
    this.context.fillRect(0, 0, size.width, size.height);
    this.context.drawImage(this.ground.canvas, 0, 0, size.width, size.height);
    if (layers.trails && canDraw(scene)) this.trails.draw(this.context, scene, ratio);
    paintOver(this.pen, scene);
  }

  /** All of it anew: everything moves when it is turned. */
  private drawSpace(scene: Scene, density: Density | null, ratio: number): void {
    resize(this.canvas, this.context, scene, ratio);
    this.context.fillStyle = scene.theme.paper;
    this.context.fillRect(0, 0, scene.size.width, scene.size.height);
    paintSpace(this.pen, scene, density);
  }
}

export function paintSpace(pen: Pen, scene: Scene, density: Density | null): void {
  scene.space?.draw(pen, scene, density);
  drawAbout(pen, scene);
}

export function paintGround(pen: Pen, scene: Scene, density: Density | null): void {
  if (scene.region.dimension === 2) {
    drawGround(pen, scene);
    drawScale(pen, scene);
  } else if (scene.region.bounds) scene.line?.drawLineGround(pen, scene, density);
  drawEmpty(pen, scene, density);
}

export function paintOver(pen: Pen, scene: Scene): void {
  const live = scene.stretches.at(-1);
  const flat = scene.region.dimension === 2;
  if (!canDraw(scene)) return;
  if (scene.layers.trails && scene.running && live) drawHeads(pen, scene, live);
  if (flat) drawPlane(pen, scene);
  else scene.line?.drawLine(pen, scene);
  if (flat) drawRangeKey(pen, scene);
  drawAbout(pen, scene);
}
