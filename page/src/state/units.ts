/** Powers of length and of time in the unit of each key of a law; page/tables.py writes them. */

import units from "./units.json";

export const UNITS = units as unknown as Readonly<
  Record<string, Readonly<Record<string, readonly [length: number, time: number]>>>
>;
