/** Figures of a run as the shell names them; page/tables.py writes the table. */

import table from "./figures.json";

/** A figure of a run, by its key in the summary. */
interface FigureTable {
  readonly label: string;
  /** Powers of length and of time. */
  readonly unit?: readonly [length: number, time: number];
}

const FIGURES = table.figures as unknown as Readonly<Record<string, FigureTable>>;

/** The name of a figure. */
export const labelOf = (key: string): string => FIGURES[key].label;

/** The powers of length and time of a figure, or of a part of one such as its mean. */
export const unitOf = (key: string): FigureTable["unit"] => (FIGURES[key] ?? FIGURES[key.split(".")[0]]).unit;
