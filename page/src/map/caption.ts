/** Caption: what stands above a map in a picture or a film, where there is no page around it. */

import type { Pen } from "./pen";
import type { Theme } from "./theme";

export interface Caption {
  readonly title: string;
  readonly law: string;
  readonly time: string;
}

export const HEIGHT = 46;
const SIDE = 16;
const LETTER = 8.2; // pixels of a letter of the title, about

/** The title, the law below it, and the time on the right. */
export function drawCaption(pen: Pen, { title, law, time }: Caption, theme: Theme, width: number): void {
  const most = Math.max(8, Math.floor((width - 2 * SIDE - LETTER * (time.length + 2)) / LETTER));
  const short = title.length > most ? `${title.slice(0, most - 1)}…` : title;
  pen.text(short, SIDE, 16, { colour: theme.ink, size: 15, bold: true });
  pen.text(law, SIDE, 35, { colour: theme.cell, size: 12 });
  pen.text(time, width - SIDE, 16, { colour: theme.ink, size: 15, align: "right" });
}
