/** SamplesChart: the cost of each law over the samples that it took per agent, both on log axes. */

import uPlot from "uplot";
import { axisIn, heightFor } from "../charts/chart";
import { rowsOf, type Curve, type Curves } from "../charts/data";
import { logTicksOf } from "../charts/log_ticks";
import { colourOf, type Theme } from "../map/theme";
import type { Lane } from "../state/lane";

/** One metric sample of a law. */
export interface Point {
  readonly samples: number; // per agent so far
  readonly cost: number;
  readonly time: number;
}

/** The points of a law, as far as they can be drawn on log axes. */
export function pointsOf(lane: Lane): Point[] {
  const { timeline } = lane;
  const agents = Math.max(1, timeline.last?.arc.agents ?? 1);
  const [first] = timeline.pieces;
  const start = first ? [{ time: first.offset, piece: first, sample: 0 }] : [];
  return [...start, ...rowsOf(lane)].flatMap(({ time, piece, sample }) => {
    const samples = timeline.counts(time, timeline.jumpsUntil(time)).samples / agents;
    const cost = piece.arc.samples.cost[sample];
    return samples > 0 && cost > 0 ? [{ samples, cost, time }] : [];
  });
}

/** Samples and cost of all laws over time, for a table. */
export function overTime(lanes: readonly Lane[]): Curves {
  const laws = lanes.map((lane) => new Map(pointsOf(lane).map((one) => [one.time, one])));
  const time = [...new Set(laws.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const line = (points: Map<number, Point>, of: "samples" | "cost"): Curve =>
    time.map((t) => points.get(t)?.[of] ?? null);
  return {
    time,
    lines: laws.flatMap((points) => [line(points, "samples"), line(points, "cost")]),
    names: lanes.flatMap(({ name }) => [`${name}: samples per agent`, `${name}: cost`]),
  };
}

/** All laws over one axis; where a law has several costs for a number of samples, the last. */
export function alignedOf(laws: readonly (readonly Point[])[]): (number | null)[][] {
  const found = laws.map((points) => new Map(points.map((one) => [one.samples, one.cost])));
  const x = [...new Set(found.flatMap((one) => [...one.keys()]))].sort((a, b) => a - b);
  return [x, ...found.map((one) => x.map((at) => one.get(at) ?? null))];
}

const AROUND = 1.12; // so much more than the data is shown on each side

const around = (_: uPlot, low: number | null, high: number | null): [number, number] =>
  low === null || high === null ? [1, 10] : [low / AROUND, high * AROUND];

export class SamplesChart {
  private plot: uPlot | null = null;
  private points: readonly (readonly Point[])[] = [];
  private readonly dots: HTMLElement[] = [];

  constructor(
    private readonly parent: HTMLElement,
    private readonly theme: Theme,
    private readonly height: number,
    private readonly seek: (t: number) => void,
  ) {}

  show(points: readonly (readonly Point[])[]): void {
    this.points = points;
    const data = alignedOf(this.points) as uPlot.AlignedData;
    if (this.plot && this.plot.series.length === data.length) return this.plot.setData(data);
    this.close();
    this.plot = new uPlot(this.settings(points.length), data, this.parent);
    for (const [k] of points.entries()) {
      const dot = document.createElement("div");
      dot.className = "race-dot";
      dot.style.background = colourOf(this.theme, k);
      this.plot.over.append(dot);
      this.dots.push(dot);
    }
    this.plot.over.addEventListener("click", (e) => this.go(e));
  }

  private settings(laws: number): uPlot.Options {
    const axis: uPlot.Axis = {
      ...axisIn(this.theme),
      splits: (_, __, from, to) => logTicksOf(from, to),
    };
    const width = Math.max(120, this.parent.clientWidth);
    return {
      width,
      height: heightFor(this.height, width),
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false, distr: 3, range: around }, y: { distr: 3, range: around } },
      axes: [
        { ...axis, size: 22, gap: 2, label: "samples per agent" },
        { ...axis, size: 48, gap: 3, label: "cost" },
      ],
      series: [
        {},
        ...Array.from({ length: laws }, (_, k) => ({
          stroke: colourOf(this.theme, k),
          width: 1.5,
          spanGaps: true,
          points: { show: false },
        })),
      ],
    };
  }

  /** A dot on each curve, at the clock's time. */
  moveTo(t: number): void {
    this.points.forEach((points, k) => {
      const at = points.findLast((one) => one.time <= t);
      const dot = this.dots[k];
      if (!dot) return;
      dot.style.visibility = at ? "visible" : "hidden";
      if (at && this.plot)
        dot.style.transform = `translate(${this.plot.valToPos(at.samples, "x")}px, ${this.plot.valToPos(at.cost, "y")}px)`;
    });
  }

  /** To the time of the nearest point of any curve. */
  private go(e: MouseEvent): void {
    const { plot } = this;
    if (!plot) return;
    const box = plot.over.getBoundingClientRect();
    const [x, y] = [e.clientX - box.left, e.clientY - box.top];
    const apart = ({ samples, cost }: Point): number =>
      Math.hypot(plot.valToPos(samples, "x") - x, plot.valToPos(cost, "y") - y);
    const all = this.points.flat();
    if (all.length) this.seek(all.reduce((best, one) => (apart(one) < apart(best) ? one : best)).time);
  }

  resize(width: number): void {
    if (this.plot && width > 0) this.plot.setSize({ width, height: heightFor(this.height, width) });
  }

  close(): void {
    this.plot?.destroy();
    this.plot = null;
    this.dots.length = 0;
  }
}
