/** What the page shares with `dwell compare` and `dwell design`; page/tables.py writes the tables. */

import tables from "./tables.json";

interface LawTable {
  readonly name: string;
  /** The keys of the largest speed, of the gain, and of the time between samples of all agents together. */
  readonly speed?: string;
  readonly gain?: string;
  readonly period?: string;
  /** Whether the key of the gain is a length: the largest speed over the gain. */
  readonly reach?: boolean;
  /** Keys whose lists have one entry per agent. */
  readonly each?: readonly string[];
}

interface Tables {
  readonly laws: Readonly<Record<string, LawTable>>;
  /** Keys of other tables whose lists have one entry per agent. */
  readonly each: Readonly<Record<"agents" | "certificate", readonly string[]>>;
}

export const TABLES = tables as unknown as Tables;
