/** What a run came to, in words. */

import type { Remark } from "../net/api";
import type { Lane } from "../state/lane";
import { figure, whole } from "./context";

interface Summary {
  stop?: { reason?: string; ok?: boolean; time?: number };
  events?: { total?: number };
  cells?: { voronoi?: number };
  distance?: { mean?: number };
  top_speed?: number | null;
  messages?: number;
  cost?: { initial?: number; final?: number };
  error?: { final_max?: number };
  coverage?: { nu?: number | null; reached_at?: number | null };
  hold_error?: { max?: number | null; limit?: number | null };
  separation?: { min?: number | null };
}

export function Outcome({ lane, titled }: { lane: Lane; titled: boolean }) {
  const summary = lane.summary as Summary | null;
  if (!summary) return null;
  const offset = lane.timeline.last?.offset ?? 0;
  const reached = summary.coverage?.reached_at;
  const says = typeof reached === "number" ? `from t = ${figure(offset + reached)}` : "no";
  const covered: [string, string][] =
    typeof summary.coverage?.nu === "number" ? [["within ν for good", says]] : [];
  const rows: [string, string][] = [
    ["ended by", `${summary.stop?.reason ?? "–"} at t = ${figure(offset + (summary.stop?.time ?? 0))}`],
    ["cost", `${figure(summary.cost?.initial)} → ${figure(summary.cost?.final)}`],
    ["largest error at the end", figure(summary.error?.final_max)],
    ...covered,
    [
      "largest hold error",
      `${figure(summary.hold_error?.max)}${summary.hold_error?.limit ? ` of at most ${figure(summary.hold_error.limit)}` : ""}`,
    ],
    ["closest two agents", figure(summary.separation?.min)],
    ["samples, positions received", `${whole(summary.cells?.voronoi ?? 0)}, ${whole(summary.messages ?? 0)}`],
    ["path length per agent", figure(summary.distance?.mean)],
    ["largest speed", figure(summary.top_speed)],
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
              {part}cost {figure(summary.cost?.initial, 3)} → {figure(summary.cost?.final, 3)}
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
        {summary.stop?.time === 0 && <p class="dim">The horizon is 0, so the run is its start alone.</p>}
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
