/**
 * Painter: draws scenes on a canvas. What changes seldom (ground, paths) is kept on layers of its
 * own, so that a frame costs what moves. The same drawing goes into an SVG file.
 */

import type { Density } from "../density/density";
import { isDrawn } from "../geometry/workspace";
import { drawCaption, HEIGHT, type Caption } from "./caption";
import { Layer, resize } from "./layer";
import { drawAbout, drawEmpty, drawRangeKey, drawScale } from "./legend";
import { drawLine, drawLineGround } from "./line";
import { CanvasPen, SvgPen, type Pen } from "./pen";
import { drawGround, drawPlane } from "./plane";
import type { Scene } from "./scene";
import { TrailLayer } from "./trail_layer";
import { drawEnds, drawHeads, drawTrails } from "./trails";

const canDraw = (scene: Scene): boolean => isDrawn(scene.region);

let fonts = false; // whether the page's own font is there: words on a layer are drawn anew with it
void globalThis.document?.fonts?.ready.then(() => (fonts = true));

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly pen: CanvasPen;
  private readonly ground = new Layer();
  private readonly trails: TrailLayer;

  /** `again` is called when a picture that was only good enough while it moved is to be drawn anew. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    again: () => void = () => undefined,
  ) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.pen = new CanvasPen(this.context);
    this.trails = new TrailLayer(again);
  }

  draw(scene: Scene, density: Density | null, ratio = window.devicePixelRatio || 1): void {
    const { view, size, theme, region, layers, heat } = scene;
    const shape = [view, size.width, size.height, theme, ratio, scene.shadow, scene.frame];
    const shown = [region, heat, layers.heat, layers.holds, scene.end, scene.speed, scene.scaled, fonts];
    if (this.ground.renew(scene, ratio, [...shape, ...shown, region.bounds && density]))
      paintGround(this.ground.pen, scene, density);
    resize(this.canvas, this.context, scene, ratio);
    this.context.fillStyle = theme.paper;
    this.context.fillRect(0, 0, size.width, size.height);
    this.context.drawImage(this.ground.canvas, 0, 0, size.width, size.height);
    if (layers.trails && canDraw(scene)) this.trails.draw(this.context, scene, ratio);
    paintOver(this.pen, scene);
  }
}

function paintGround(pen: Pen, scene: Scene, density: Density | null): void {
  if (scene.region.dimension === 2) {
    drawGround(pen, scene);
    drawScale(pen, scene);
  } else if (scene.region.bounds) drawLineGround(pen, scene, density);
  drawEmpty(pen, scene, density);
}

function paintOver(pen: Pen, scene: Scene): void {
  const live = scene.stretches.at(-1);
  const flat = scene.region.dimension === 2;
  if (!canDraw(scene)) return;
  if (scene.layers.trails && scene.running && live) drawHeads(pen, scene, live);
  if (flat) drawPlane(pen, scene);
  else drawLine(pen, scene);
  if (flat) drawRangeKey(pen, scene);
  drawAbout(pen, scene);
}

/** All paths at once. */
function paintTrails(pen: Pen, scene: Scene): void {
  const last = scene.stretches.length - 1;
  scene.stretches.forEach((stretch, k) => {
    drawTrails(pen, scene, stretch, 0, stretch.jumps);
    if (k < last) drawEnds(pen, scene, stretch);
  });
}

/** A scene under its caption, as an SVG file. */
export function toSvg(scene: Scene, density: Density | null, caption: Caption): string {
  const { width, height } = scene.size;
  const pen = new SvgPen(width, height + HEIGHT);
  drawCaption(pen, caption, scene.theme, width);
  pen.shifted(HEIGHT, () => {
    paintGround(pen, scene, density);
    if (scene.layers.trails && canDraw(scene)) paintTrails(pen, scene);
    paintOver(pen, scene);
  });
  return pen.finish(scene.theme.paper);
}

/** Draw a caption and a picture of a map below it, which begins at `left`. */
export function compose(
  context: CanvasRenderingContext2D,
  picture: HTMLCanvasElement,
  scene: Scene,
  caption: Caption,
  left: number,
): void {
  const { width, height } = scene.size;
  context.save();
  context.translate(left, 0);
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, 0, width, height + HEIGHT);
  drawCaption(new CanvasPen(context), caption, scene.theme, width);
  context.drawImage(picture, 0, HEIGHT, width, height);
  context.restore();
}
