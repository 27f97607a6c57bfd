/** What is known of laws and their keys beyond types, and numbers of comparisons and designs; page/tables.py writes it. */

import keys from "./keys.json";

/** What is known of a key of a law. */
export interface KeyTable {
  /** Powers of length and of time. */
  readonly unit?: readonly [length: number, time: number];
  /** The choice of another key that it goes with. */
  readonly belongs?: readonly [key: string, choice: string];
  /** The value where none is given; known of times between samples of all agents together. */
  readonly default?: number;
}

interface LawKeys {
  readonly about: string;
  readonly keys: Readonly<Record<string, KeyTable>>;
}

interface Tables {
  readonly laws: Readonly<Record<string, LawKeys>>;
  /** Keys of agents, network and run that have units, by their dotted names. */
  readonly keys: Readonly<
    Record<string, { readonly unit: readonly [length: number, time: number]; readonly about: string }>
  >;
  /** Laws that compute guaranteed cells, too. */
  readonly guaranteed: readonly string[];
  readonly theta: number; // eta_max / k1 where no eta_max is given
  readonly unlike: number; // ratio of largest speeds from which a comparison has a note
  readonly small: number; // of the diameter: the level of settling where no law has a nu
}

export const MORE = keys as unknown as Tables;

/** What a law does, in a few words; nothing of a law that is not built in. */
export const aboutLaw = (kind: string): string => MORE.laws[kind]?.about ?? "";

/** The keys of a law of a kind; none of a law that is not built in. */
export const keysOf = (kind: string): readonly (readonly [key: string, about: KeyTable])[] =>
  Object.entries(MORE.laws[kind]?.keys ?? {});
