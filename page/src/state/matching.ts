/** How laws side by side are matched, in words. */

import type { Law } from "../net/api";
import { number, paceKeys, paceOf } from "./laws";
import { MORE } from "./keys";
import { TABLES } from "./tables";

const WORDS = ["largest speed", "speed per distance near the centroid"] as const;

/** A law side by side with others, and how it is called there. */
export interface NamedLaw {
  readonly name: string;
  readonly law: Law;
}

const ALIKE = 1e-5; // relative: paces are rounded to six digits
const short = (value: number): string => String(Number(value.toPrecision(6)));

/** The numbers and words of a law in one line. */
export function lawInWords(law: Law): string {
  return Object.entries(law)
    .filter(([key, value]) => key !== "kind" && (typeof value === "number" || typeof value === "string"))
    .map(([key, value]) => `${key} = ${String(value)}`)
    .join(", ");
}

/** What keeps laws from having the pace of the first, in the sentences of `dwell compare`. */
export function mismatches(laws: readonly NamedLaw[]): string[] {
  const [own, ...others] = laws;
  if (!others.length) return [];
  return WORDS.flatMap((what, k) => {
    const wanted = paceOf(own.law)[k];
    if (wanted === null) return [`The scenario's law (${own.name}) sets no ${what}: the others keep theirs.`];
    const without = others.filter(({ law }) => !paceKeys(law.kind)[k]);
    const notes = without.length
      ? [`${without.map(({ name }) => name).join(" and ")}: no key sets the ${what}, so it is not matched.`]
      : [];
    for (const { name, law } of others.filter((one) => !without.includes(one))) {
      const key = paceKeys(law.kind)[k];
      const found = paceOf(law)[k];
      if (found === null) notes.push(`${name}: ${key} is not given, so the ${what} is not matched.`);
      else if (Math.abs(found - wanted) > ALIKE * Math.abs(wanted))
        notes.push(
          `${name}: ${key} = ${short(number(law[key]) ?? found)} makes the ${what} ${short(found)}; that of the scenario's law is ${short(wanted)}.`,
        );
    }
    return notes;
  });
}

/** The time between samples of a law that samples every dt; null for others. */
export function dtOf(law: Law): number | null {
  const period = TABLES.laws[law.kind]?.period;
  if (law["mode"] === "ode" || !period) return null;
  return number(law[period]) ?? MORE.laws[law.kind]?.keys[period]?.default ?? null;
}
