/** Cost over samples: what each law achieved with how many of them. */

import { useEffect, useRef } from "preact/hooks";
import { tableOf } from "../charts/words";
import { ChartTable } from "../panels/ChartTable";
import { figure, useApp, useSession, useTheme } from "../panels/context";
import type { Lane } from "../state/lane";
import { overTime, pointsOf, SamplesChart, type Point } from "./samples_chart";

const HEIGHT = 165;

interface Props {
  readonly lanes: readonly Lane[];
  readonly notes: readonly string[];
}

/** The ends of a law's curve in words. */
function ends(lane: Lane, points: readonly Point[]): string {
  const [first, last] = [points[0], points[points.length - 1]];
  if (!last) return `${lane.name} takes no samples`;
  return `${lane.name}: cost ${figure(first.cost)} after ${figure(first.samples)}, ${figure(last.cost)} after ${figure(last.samples)} samples per agent`;
}

export function SamplesPane({ lanes, notes }: Props) {
  const session = useSession();
  const theme = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<SamplesChart | null>(null);
  const version = useApp((app) => app.version);
  const laneVersion = useApp((app) => app.laneVersion);
  const points = lanes.map(pointsOf);
  const latest = useRef(points);
  latest.current = points;
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const made = new SamplesChart(element, theme, HEIGHT, (t) => {
      session.clock.pause();
      session.seek(t);
    });
    chart.current = made;
    made.show(latest.current);
    const off = session.clock.onFrame(() => made.moveTo(session.clock.t));
    const watch = new ResizeObserver(() => made.resize(element.clientWidth));
    watch.observe(element);
    return () => {
      off();
      watch.disconnect();
      made.close();
    };
  }, [session, theme]);
  useEffect(() => {
    chart.current?.show(latest.current);
    session.clock.touch();
  }, [session, version, laneVersion]);
  const silent = lanes.filter((lane, k) => lane.summary && !points[k].length);
  return (
    <section class="chart">
      <h3>
        Cost over samples per agent{" "}
        <span class="chart-note dim">a dot at the time shown; click to go there</span>
      </h3>
      <div
        ref={box}
        class="chart-box race-samples"
        role="img"
        aria-label={`${lanes.map((lane, k) => ends(lane, points[k])).join("; ")}.`}
      />
      <ChartTable title="cost over samples" table={() => tableOf(overTime(lanes))} />
      {[...notes, ...silent.map((lane) => `${lane.name} takes no samples.`)].map((note) => (
        <p key={note} class="dim race-note">
          {note}
        </p>
      ))}
    </section>
  );
}
