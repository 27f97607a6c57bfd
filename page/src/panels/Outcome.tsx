/** What a run came to, in words. */

import type { Remark } from "../net/api";
import { labelOf, unitOf } from "../state/figures";
import type { Lane } from "../state/lane";
import { figure, whole } from "./context";

type Value = string | number | boolean | null | undefined;

/** The value of a figure by its key in the summary. */
function valueIn(summary: Record<string, unknown>, key: string): Value {
  const [table, part] = key.split(".");
  const value = summary[table];
  return part ? (value as Record<string, Value> | undefined)?.[part] : (value as Value);
}

/** A figure in words, with its unit at a site. */
function shown(summary: Record<string, unknown>, key: string, digits?: number): string {
  const { length, time } = (summary["units"] as Partial<Record<string, string>> | undefined) ?? {};
  const [powers, words] = [unitOf(key), figure(valueIn(summary, key) as number, digits)];
  if (!powers || !length || words === figure(null)) return words;
  const [top, below] = [powers[0] ? length : "", powers[1] < 0 ? `/${time}` : powers[1] ? time : ""];
  return `${words} ${top}${below}`;
}

export function Outcome({ lane, titled }: { lane: Lane; titled: boolean }) {
  const { summary } = lane;
  if (!summary) return null;
  const offset = lane.timeline.last?.offset ?? 0;
  const end = valueIn(summary, "stop.time") as number | undefined;
  const reached = valueIn(summary, "coverage.reached_at");
  const says = typeof reached === "number" ? `from t = ${figure(offset + reached)}` : "no";
  const hasLevel = typeof valueIn(summary, "coverage.nu") === "number";
  const covered: [string, string][] = hasLevel ? [[labelOf("coverage.reached_at"), says]] : [];
  const limit = valueIn(summary, "hold_error.limit");
  const most = limit ? ` of at most ${shown(summary, "hold_error.limit")}` : "";
  const row = (key: string): [string, string] => [labelOf(key), shown(summary, key)];
  const counts = ["cells.voronoi", "messages"];
  const rows: [string, string][] = [
    [
      labelOf("stop.reason"),
      `${valueIn(summary, "stop.reason") ?? "–"} at t = ${figure(offset + (end ?? 0))}`,
    ],
    ["cost", `${shown(summary, "cost.initial")} → ${shown(summary, "cost.final")}`],
    row("error.final_max"),
    ...covered,
    [labelOf("hold_error.max"), `${shown(summary, "hold_error.max")}${most}`],
    row("separation.min"),
    [
      counts.map(labelOf).join(", "),
      counts.map((key) => whole((valueIn(summary, key) as number | undefined) ?? 0)).join(", "),
    ],
    [`${labelOf("distance")} per agent`, shown(summary, "distance.mean")],
    row("top_speed"),
  ];
  const part = offset > 0 ? `since t = ${figure(offset)}: ` : "";
  const broken = lane.remarks.filter((one) => one.broken);
  const others = lane.remarks.filter((one) => !one.broken);
  return (
    <>
      <Remarks remarks={broken} />
      <details class="outcome">
        <summary>
          <h3>{titled ? lane.name : "Outcome"}</h3>
          <span class="chart-note dim">
            <span>
              {part}cost {shown(summary, "cost.initial", 3)} → {shown(summary, "cost.final", 3)}
            </span>
            {covered.length > 0 && (
              <span>{typeof reached === "number" ? `within ν ${says}` : "not within ν for good"}</span>
            )}
            {lane.remarks.length > 0 && (
              <span>
                {lane.remarks.length} note{lane.remarks.length > 1 && "s"}
              </span>
            )}
          </span>
        </summary>
        {end === 0 && <p class="dim">The horizon is 0, so the run is its start alone.</p>}
        {offset > 0 && (
          <p class="dim">
            Only of the part from t = {figure(offset)} on, after the last change; the counters above are of
            the whole run. Times are those of the whole run; in the notes, and in the files of this part, the
            clock begins at the change.
          </p>
        )}
        <dl class="rows">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Remarks remarks={others} />
      </details>
    </>
  );
}

/** What `dwell run` says of the same run, beside its figures. */
function Remarks({ remarks }: { remarks: readonly Remark[] }) {
  if (!remarks.length) return null;
  return (
    <ul class="remarks">
      {remarks.map(({ label, says, broken }) => (
        <li key={says} class={broken ? "bad" : undefined} role={broken ? "alert" : undefined}>
          <b>
            {broken ? "✗ " : ""}
            {label}
          </b>{" "}
          {says}
        </li>
      ))}
    </ul>
  );
}
