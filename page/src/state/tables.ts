/** What the page shares with `dwell compare` and `dwell design`; page/tables.py writes the tables. */

import tables from "./tables.json";

interface Tables {
  /** The keys of a law for its largest speed and its gain. */
  readonly pace: Readonly<Record<string, readonly [speed: string, gain: string]>>;
  /** The keys of the timer law that may have one entry per agent. */
  readonly perAgent: readonly string[];
  /** Laws that compute guaranteed cells, too. */
  readonly guaranteed: readonly string[];
  /** Laws that sample every dt, with a gain that is matched. */
  readonly periodic: readonly string[];
  readonly dt: number; // of a law that samples every dt and gives none
  readonly theta: number; // eta_max / k1 where no eta_max is given
  readonly unlike: number; // ratio of largest speeds from which a comparison has a note
  readonly small: number; // of the diameter: the level of settling where no law has a nu
}

export const TABLES = tables as unknown as Tables;
