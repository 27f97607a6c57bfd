/** The numbers of the runs as they go on. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { errorsOf, figureAt, figureOf, MOST_LINES } from "../charts/data";
import { drawTimers, MANY, timerTable } from "../charts/timers";
import { colourOf, type Theme } from "../map/theme";
import type { Lane } from "../state/lane";
import { ChartPane } from "./ChartPane";
import { ChartTable } from "./ChartTable";
import { Counters } from "./Counters";
import { figure, useApp, useSession, useTheme, useTime } from "./context";
import { lazy } from "./lazy";
import { Outcome } from "./Outcome";
import { Term } from "./Term";

const HEIGHT = 165;

const Raster = lazy(async () => (await import("../race/RasterPane")).RasterPane);

export function Numbers() {
  const lanes = useApp((app) => app.lanes);
  useApp((app) => app.laneVersion);
  const begun = lanes.filter((lane) => lane.timeline.pieces.length > 0);
  if (!begun.length) return <Waiting />;
  return (
    <div class="numbers">
      {begun.length === 1 && <Counters lane={begun[0]} />}
      {begun.map((lane) => (
        <Outcome key={lane.name} lane={lane} titled={begun.length > 1} />
      ))}
      {lanes.length > 1 && <p class="dim">Errors, costs and samples of all laws are below the maps.</p>}
      {lanes.length === 1 && <ErrorChart lanes={begun} />}
      {lanes.length === 1 && <FigureChart lanes={begun} which="cost" log />}
      <HoldChart lanes={begun} />
      {lanes.length === 1 && <Timers lane={begun[0]} />}
      {lanes.length === 1 && <Raster />}
    </div>
  );
}

function Waiting() {
  const session = useSession();
  const lanes = useApp((app) => app.lanes);
  const asking = useApp((app) => app.asking);
  const waiting = asking || lanes.some((lane) => lane.working);
  return (
    <div class="empty">
      <p>
        {waiting
          ? "The run is about to begin."
          : "No run yet. Errors, cost, timers and messages are shown here while one goes on."}
      </p>
      {!waiting && (
        <button class="plain" onClick={() => void session.run()}>
          Run
        </button>
      )}
    </div>
  );
}

const laneColours =
  (theme: Theme) =>
  (k: number): string =>
    colourOf(theme, k);

const limitsOf = (lanes: readonly Lane[], of: "nu" | "limit"): number[] => {
  const found = lanes
    .map((lane) => lane.timeline.last?.[of])
    .filter((v): v is number => typeof v === "number" && v > 0);
  return [...new Set(found)];
};

export function ErrorChart({ lanes }: { lanes: readonly Lane[] }) {
  const theme = useTheme();
  const alone = lanes.length === 1;
  const agents = lanes[0].timeline.last?.arc.agents ?? 0;
  const many = agents > MOST_LINES;
  const each = lanes[0].timeline.pieces.every((piece) => piece.arc.samples.errors.length > 0);
  const band = many && each;
  const nu = limitsOf(lanes, "nu");
  const names = lanes.map((lane) => lane.name);
  const grey = (k: number): string => (k === 2 ? theme.flash : k === 1 ? theme.ink : theme.cell);
  return (
    <ChartPane
      name={alone && !many ? "Error of each agent" : "Largest error"}
      title={
        <>
          {alone && !many ? "" : alone && band ? "" : "Largest "}
          <Term name="error">{alone && band ? "Errors" : alone && !many ? "Error" : "error"}</Term>
          {alone && !many ? " of each agent" : ""}
        </>
      }
      note={
        <>
          <Legend
            lanes={lanes}
            which="error"
            named={!many || band}
            extra={
              nu.length ? (
                <>
                  <Term name="nu">ν</Term> = {nu.map((v) => figure(v)).join(", ")} dashed
                </>
              ) : null
            }
          />
          {alone && many && !each && (
            <span class="legend dim">of so many agents the largest alone is kept</span>
          )}
          {alone && band && (
            <span class="legend">
              <Swatch colour={theme.flash} /> largest <Swatch colour={theme.ink} /> middle{" "}
              <Swatch colour={theme.cell} /> least
            </span>
          )}
        </>
      }
      of={`${names.join()}${lanes.map((lane) => lane.timeline.pieces[0].id).join()}${many}${each}`}
      agents={alone && !many}
      curves={() => (alone ? errorsOf(lanes[0]) : figureOf(lanes, "error", names))}
      options={{
        log: true,
        height: HEIGHT + 30,
        colours: alone && band ? grey : laneColours(theme),
        dashed: alone && !many,
        limits: () => limitsOf(lanes, "nu"),
        limitName: "ν",
        label: "distance to the centroid",
        power: 0,
      }}
    />
  );
}

export function FigureChart({ lanes, which, log }: { lanes: readonly Lane[]; which: "cost"; log: boolean }) {
  const theme = useTheme();
  const names = lanes.map((lane) => lane.name);
  return (
    <ChartPane
      name="Cost"
      title={<Term name="cost">Cost</Term>}
      note={<Legend lanes={lanes} which={which} />}
      of={`${names.join()}${lanes.map((lane) => lane.timeline.pieces[0].id).join()}`}
      curves={() => figureOf(lanes, which, names)}
      options={{
        log,
        height: HEIGHT,
        colours: laneColours(theme),
        dashed: false,
        limits: () => [],
        label: "locational cost",
      }}
    />
  );
}

function HoldChart({ lanes }: { lanes: readonly Lane[] }) {
  const theme = useTheme();
  const held = lanes.filter((lane) =>
    lane.timeline.pieces.some((piece) => piece.arc.samples.holdError.length > 0),
  );
  if (!held.length) return null;
  const limit = limitsOf(held, "limit");
  const names = held.map((lane) => lane.name);
  return (
    <ChartPane
      name="Largest hold error"
      title={
        <>
          Largest <Term name="holdError">hold error η̃</Term>
        </>
      }
      note={
        <Legend
          lanes={held}
          which="holdError"
          extra={
            limit.length ? (
              <>
                <Term name="etaMax">limit</Term> {limit.map((v) => figure(v)).join(", ")} dashed
              </>
            ) : null
          }
        />
      }
      of={`${names.join()}${held.map((lane) => lane.timeline.pieces[0].id).join()}`}
      curves={() => figureOf(held, "holdError", names, false)}
      options={{
        log: false,
        height: HEIGHT - 20,
        colours: (k) => colourOf(theme, lanes.indexOf(held[k])),
        dashed: false,
        limits: () => limitsOf(held, "limit"),
        limitName: "limit",
        label: "speed",
      }}
    />
  );
}

/** Values at the clock's time. */
function Legend({
  lanes,
  which,
  extra = null,
  named = false,
}: {
  lanes: readonly Lane[];
  which: "cost" | "error" | "holdError";
  extra?: ComponentChildren;
  named?: boolean;
}) {
  const session = useSession();
  const theme = useTheme();
  useTime();
  const { t } = session.clock;
  return (
    <>
      {lanes.map((lane, k) => (
        <span key={lane.name} class="legend">
          {lanes.length > 1 && <Swatch colour={colourOf(theme, k)} />}
          {lanes.length > 1 ? `${lane.name} ` : named ? "largest " : ""}
          <b>{figure(figureAt(lane, t, session.jumpOf(lane), which), 3)}</b>
        </span>
      ))}
      {extra && <span class="legend dim">{extra}</span>}
    </>
  );
}

export function Swatch({ colour }: { colour: string }) {
  return (
    <svg class="swatch" viewBox="0 0 14 4" aria-hidden="true">
      <rect width="14" height="4" rx="2" fill={colour} />
    </svg>
  );
}

/** What an agent waits for: under some laws not every event is a sample, under others none is. */
function doesNext(lane: Lane): string {
  const arc = lane.timeline.last?.arc;
  const events = arc?.events;
  if (!events?.sampled || !events.count) return "samples again";
  const samples = events.samples[events.count];
  const left = arc?.lives?.departures.filter((t) => t <= arc.known).length ?? 0; // who leaves has an event without a sample
  return samples === 0
    ? "chooses its velocity anew; none samples, each receives broadcasts"
    : samples < events.count - left
      ? "samples or chooses its velocity anew"
      : "samples again";
}

function Timers({ lane }: { lane: Lane }) {
  const session = useSession();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const agents = lane.timeline.last?.arc.agents ?? 0;
  useApp((app) => app.version); // whether any agent samples is seen in the rows
  const what = `time left until each agent ${doesNext(lane)}`;
  useEffect(() => {
    let longest = 0;
    const draw = (): void => {
      const state = lane.stateAt(session.clock.t, session.jumpOf(lane));
      if (!state || !canvas.current) return;
      for (let p = 0; p < state.agents; p++)
        if (state.present[p] && Number.isFinite(state.nextAt[p]))
          longest = Math.max(longest, state.nextAt[p] - state.since[p]);
      drawTimers(canvas.current, state, theme, longest);
    };
    return session.clock.onFrame(draw);
  }, [session, lane, theme]);
  return (
    <section class="chart">
      <h3>
        <Term name="timer">Timers</Term>{" "}
        <span class="chart-note dim">
          {what}
          {agents > MANY ? ", longest first" : ""}
        </span>
      </h3>
      <canvas ref={canvas} class="timers" role="img" aria-label={`One bar per agent: ${what}`} />
      <ChartTable
        title="Timers"
        table={() => {
          const state = lane.stateAt(session.clock.t, session.jumpOf(lane));
          return state ? timerTable(state) : { times: [], rows: [] };
        }}
      />
    </section>
  );
}
