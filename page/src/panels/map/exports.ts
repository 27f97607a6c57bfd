/** The maps on the page, and how a file is saved. */

import type { Lane } from "../../state/lane";
import type { Shown } from "./scene_of";

export interface MapEntry {
  readonly canvas: HTMLCanvasElement;
  readonly lane: Lane | null;
  readonly shown: () => Shown | null;
}

/** The maps on the page, in the order in which they were put there. */
export const maps = new Set<MapEntry>();

export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
