/** Which figures of laws side by side are shown, how, and which of them are the best. */

import { figure, whole } from "../panels/context";
import { labelOf } from "../state/figures";
import type { Lane } from "../state/lane";
import { dtOf } from "../state/matching";
import { MORE } from "../state/keys";
import { speedsDiffer, type Figures } from "./figures";

export interface Column {
  readonly name: string;
  readonly about: string; // in a second line of the header
  readonly value: (one: Figures) => number | null;
  readonly ranked: boolean; // whether less is better; a largest speed is what laws are matched by, and samples are not all that is computed
}

export interface Ranked {
  readonly lane: Lane;
  readonly figures: Figures;
}

const DIGITS = 4;

type Shown = Exclude<keyof Figures, "settled" | "total">;

/** The column of a figure. */
function columnOf(key: Shown, about = "per agent", ranked = true): Column {
  const label = labelOf(key);
  return { name: label[0].toUpperCase() + label.slice(1), about, value: (one) => one[key], ranked };
}

/** The columns for a level of settling; messages only where a law sends some. */
export function columnsOf(level: number | null, rows: readonly Ranked[]): Column[] {
  const sends = rows.some(({ figures }) => figures.broadcasts > 0);
  const kinds = rows.some(({ lane }) => MORE.guaranteed.includes(lane.kind));
  const settled: Column = {
    name: "Time to coverage",
    about: level === null ? "no ν is given" : `settled to ${figure(level)}`,
    value: (one) => one.settled,
    ranked: true,
  };
  return [
    settled,
    columnOf("samples", "per agent", !kinds),
    ...(kinds ? [columnOf("cells.per_agent", "per agent, at the end")] : []),
    columnOf("messages"),
    ...(sends ? [columnOf("broadcasts")] : []),
    columnOf("distance"),
    { ...columnOf("cost.final", "locational"), name: "Cost" },
    columnOf("top_speed", "largest of any agent", false),
  ];
}

export const shown = (value: number | null): string => figure(value, DIGITS);

/** The rows with the least value, to the digits that are shown; none if all are equal. */
export function bestOf(values: readonly (number | null)[]): ReadonlySet<number> {
  const found = values.filter((one) => one !== null);
  const least = shown(Math.min(...found));
  const best = values.flatMap((one, k) => (one !== null && shown(one) === least ? [k] : []));
  return new Set(best.length < values.length ? best : []);
}

/** The name of a law, with its dt where its number of samples follows from that. */
export function titleOf({ name, timeline }: Lane): string {
  const law = timeline.last?.scenario.controller;
  const dt = law && dtOf(law);
  return dt ? `${name} (dt = ${dt})` : name;
}

/** A law's numbers at the end, in a sentence. */
export function sentenceOf({ lane, figures }: Ranked, level: number | null): string {
  const name = titleOf(lane);
  if (lane.problem) return `${name}: ${lane.problem.message}`;
  const covered =
    level === null
      ? ""
      : figures.settled === null
        ? `; not settled to ${shown(level)}`
        : `; settled to ${shown(level)} from t = ${shown(figures.settled)} on`;
  const others = figures["cells.per_agent"] === null ? 0 : figures["cells.per_agent"] - figures.samples;
  const more = others > 0 ? ` and ${shown(others)} other cells per agent` : "";
  const samples = `${whole(figures.total)} samples (${shown(figures.samples)} per agent)${more}`;
  return `${name}: cost ${shown(figures["cost.final"])} with ${samples}${covered}; path ${shown(figures.distance)} per agent, largest speed ${shown(figures.top_speed)}.`;
}

const ALIKE = 0.05; // costs that differ by less than this part can be set against the cells they took
const FEWER = 1.5; // times

/** What the law with the fewest cells of all kinds took of those of the law with the most, at about the same cost. */
export function verdictOf(rows: readonly Ranked[]): string {
  const done = rows.filter(({ figures }) => figures.total > 0 && figures["cost.final"] !== null);
  if (done.length < 2 || done.some(({ figures }) => figures["cells.per_agent"] === null)) return "";
  const cells = ({ figures }: Ranked): number => figures["cells.per_agent"] as number;
  const sorted = [...done].sort((a, b) => cells(a) - cells(b));
  const [few, many] = [sorted[0], sorted[sorted.length - 1]];
  const share = cells(few) / cells(many);
  const more = (few.figures["cost.final"] as number) / (many.figures["cost.final"] as number) - 1;
  if (share * FEWER > 1 || Math.abs(more) > ALIKE) return "";
  const cost = `${figure(Math.abs(100 * more), 2)} % ${more < 0 ? "lower" : "higher"}`;
  const other = done.some(({ figures }) => cells({ figures } as Ranked) > figures.samples);
  const what = other ? "cells, those of all kinds counted," : "samples";
  return `${titleOf(few.lane)} took ${figure(100 * share, 2)} % as many ${what} as ${titleOf(many.lane)}; its final cost is ${Math.abs(more) < 5e-5 ? "the same" : cost}.`;
}

/** What `dwell run` says of each law's run; first what was to hold and did not. */
export function remarkNotes(lanes: readonly Lane[]): { readonly says: string; readonly broken: boolean }[] {
  const all = lanes.flatMap(({ name, remarks }) =>
    remarks
      .filter(({ label }) => label !== "cells")
      .map(({ label, says, broken }) => ({
        says: `${name}: ${label === "note" ? "" : `${label}: `}${says}`,
        broken,
      })),
  );
  return [...all.filter((one) => one.broken), ...all.filter((one) => !one.broken)];
}

/** The largest speeds, if they differ. */
export function speedNote(rows: readonly Ranked[]): string {
  if (!speedsDiffer(rows.map(({ figures }) => figures.top_speed))) return "";
  const each = rows.map(({ lane, figures }) => `${lane.name} ${shown(figures.top_speed)}`);
  return `The largest speeds that occurred differ: ${each.join(", ")}.`;
}

/** Laws that sample every dt: how many samples that makes. */
export function dtNotes(lanes: readonly Lane[]): string[] {
  return lanes.flatMap((lane) => {
    const law = lane.timeline.last?.scenario.controller;
    const dt = law && dtOf(law);
    if (!dt) return [];
    const { end } = lane.timeline;
    return [
      `${lane.name} samples every dt = ${dt}: its samples per agent are horizon / dt = ${whole(end / dt)}, so they depend on the choice of dt.`,
    ];
  });
}
