/** Pictures of the maps as files. */

import { Painter, toSvg } from "../../map/painter";
import type { Shown } from "./scene_of";

/** The maps on the page, in the order in which they were put there. */
export const maps = new Set<{ canvas: HTMLCanvasElement; shown: () => Shown | null }>();

const SHARP = 2; // pixels of a picture per pixel of the page

export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function saveSvg(name: string): void {
  for (const [k, map] of [...maps].entries()) {
    const shown = map.shown();
    if (!shown) continue;
    download(
      new Blob([toSvg(shown.scene, shown.density)], { type: "image/svg+xml" }),
      numbered(name, k, "svg"),
    );
  }
}

export function savePng(name: string): void {
  for (const [k, map] of [...maps].entries()) {
    const shown = map.shown();
    if (!shown) continue;
    const canvas = document.createElement("canvas");
    new Painter(canvas).draw(shown.scene, shown.density, SHARP);
    canvas.toBlob((blob) => blob && download(blob, numbered(name, k, "png")), "image/png");
  }
}

const numbered = (name: string, k: number, end: string): string =>
  k ? `${name}-${k + 1}.${end}` : `${name}.${end}`;
