/** Pictures of maps with a caption, for files and films. */

import type { Density } from "../density/density";
import { drawCaption, HEIGHT, type Caption } from "./caption";
import { canDraw, paintGround, paintOver, paintSpace } from "./painter";
import { CanvasPen } from "./pen";
import type { Scene } from "./scene";
import { SvgPen } from "./svg_pen";
import { drawPaths } from "./trails";

/** A scene under its caption, as an SVG file. */
export function toSvg(scene: Scene, density: Density | null, caption: Caption): string {
  const { width, height } = scene.size;
  const pen = new SvgPen(width, height + HEIGHT);
  drawCaption(pen, caption, scene.theme, width);
  pen.shifted(HEIGHT, () => {
    if (scene.space) return paintSpace(pen, scene, density);
    paintGround(pen, scene, density);
    if (scene.layers.trails && canDraw(scene)) drawPaths(pen, scene);
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
