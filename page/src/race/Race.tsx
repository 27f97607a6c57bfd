/** Laws side by side, in numbers: below the maps, at their full width. */

import { useMemo } from "preact/hooks";
import { regionOf } from "../geometry/workspace";
import type { Scenario } from "../net/api";
import { figure, useApp, useSession, useTime } from "../panels/context";
import { ErrorChart, FigureChart } from "../panels/Numbers";
import type { Lane } from "../state/lane";
import { mismatches } from "../state/matching";
import { EndCard } from "./EndCard";
import { diameterOf, figuresOf, levelOf } from "./figures";
import { FiguresTable } from "./FiguresTable";
import "./race.css";
import { dtNotes, remarkNotes, speedNote, type Ranked } from "./ranking";
import { RasterPane } from "./RasterPane";
import { SamplesPane } from "./SamplesPane";

const hasBegun = (lane: Lane): boolean => lane.timeline.pieces.length > 0;

export function Race() {
  const lanes = useApp((app) => app.lanes);
  const scenario = useApp((app) => app.scenario);
  useApp((app) => app.version);
  useApp((app) => app.laneVersion);
  const begun = lanes.filter(hasBegun);
  if (!scenario || !begun.length)
    return <p class="race empty">Figures, charts and samples of all laws are shown here once they run.</p>;
  const every = dtNotes(begun);
  return (
    <section class="race" aria-label="The laws in numbers">
      <FiguresNow lanes={lanes} begun={begun} scenario={scenario} every={every} />
      <div class="race-charts">
        <FigureChart lanes={begun} which="cost" log />
        <SamplesPane lanes={begun} notes={every} />
        <ErrorChart lanes={begun} />
      </div>
      <RasterPane />
    </section>
  );
}

interface Props {
  readonly lanes: readonly Lane[];
  readonly begun: readonly Lane[];
  readonly scenario: Scenario;
  readonly every: readonly string[];
}

/** The figures at the clock's time; the charts beside them do not change with it. */
function FiguresNow({ lanes, begun, scenario, every }: Props) {
  const session = useSession();
  useTime();
  const { workspace } = scenario;
  const diameter = useMemo(() => diameterOf(regionOf(workspace)), [workspace]);
  const { t } = session.clock;
  const level = levelOf(begun, diameter);
  const rows: Ranked[] = begun.map((lane) => ({
    lane,
    figures: figuresOf(lane, t, session.jumpOf(lane), level),
  }));
  const done = lanes.every((lane) => lane.summary || lane.problem);
  const over = done && begun.every((lane) => t >= lane.timeline.known);
  const said = over ? remarkNotes(begun) : [];
  const broken = said.filter((one) => one.broken).map((one) => one.says);
  const notes = [
    ...lanes
      .filter((lane) => lane.problem && !hasBegun(lane))
      .map(({ name, problem }) => `${name}: ${problem?.message}`),
    ...mismatches(
      begun.flatMap(({ name, timeline }) =>
        timeline.last ? [{ name, law: timeline.last.scenario.controller }] : [],
      ),
    ),
    speedNote(rows),
    ...said.filter((one) => !one.broken).map((one) => one.says),
  ].filter(Boolean);
  const when = over ? `At the end, t = ${figure(t)}` : `At t = ${figure(t)} of ${figure(session.end)}`;
  return (
    <>
      <div aria-live="polite">
        {over && <EndCard rows={rows} level={level} broken={broken} notes={[...notes, ...every]} />}
      </div>
      <FiguresTable rows={rows} level={level} when={when} over={over} />
      {notes.length > 0 && (
        <ul class="race-notes dim">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}
