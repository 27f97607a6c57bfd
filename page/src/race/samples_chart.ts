/** SamplesChart: the cost of each law over the samples that it took per agent, both on log axes. */

import uPlot from "uplot";
import { axisIn } from "../charts/chart";
import { rowsOf } from "../charts/data";
import { colourOf, type Theme } from "../map/theme";
import { figure } from "../panels/context";
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
    const samples = timeline.counts(time, timeline.jumpsUntil(time)).looks / agents;
    const cost = piece.arc.samples.cost[sample];
    return samples > 0 && cost > 0 ? [{ samples, cost, time }] : [];
  });
}

/** All laws over one axis; where a law has several costs for a number of samples, the last. */
export function alignedOf(laws: readonly (readonly Point[])[]): (number | null)[][] {
  const found = laws.map((points) => new Map(points.map((one) => [one.samples, one.cost])));
  const x = [...new Set(found.flatMap((one) => [...one.keys()]))].sort((a, b) => a - b);
  return [x, ...found.map((one) => x.map((at) => one.get(at) ?? null))];
}

const AROUND = 1.12; // so much more than the data is shown on each side
const FEW = 1.7; // powers of ten; on a shorter axis 2 and 5 have numbers too

const wanted = (v: number, span: number): boolean => {
  const lead = v / 10 ** Math.floor(Math.log10(v) + 1e-9);
  return Math.abs(lead - 1) < 1e-6 || (span < FEW && [2, 5].some((k) => Math.abs(lead - k) < 1e-6));
};

/** The ticks of a log axis that have a line and a number. */
function labelled(_: uPlot, ticks: number[]): (number | null)[] {
  const span = Math.log10(Math.max(...ticks) / Math.min(...ticks));
  return ticks.map((v) => (wanted(v, span) ? v : null));
}

/** Some more than the data on each side; ticks are counted from the lower end, which is made round. */
function around(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [1, 10];
  const power = 10 ** Math.floor(Math.log10(low / AROUND));
  return [Math.floor(low / AROUND / power) * power, high * AROUND];
}

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

  show(lanes: readonly Lane[]): void {
    this.points = lanes.map(pointsOf);
    const data = alignedOf(this.points) as uPlot.AlignedData;
    if (this.plot && this.plot.series.length === data.length) return this.plot.setData(data);
    this.close();
    this.plot = new uPlot(this.settings(lanes.length), data, this.parent);
    for (const [k] of lanes.entries()) {
      const dot = document.createElement("div");
      dot.className = "race-dot";
      dot.style.background = colourOf(this.theme, k);
      this.plot.over.append(dot);
      this.dots.push(dot);
    }
    this.plot.over.addEventListener("click", (e) => this.go(e));
  }

  private settings(laws: number): uPlot.Options {
    const style = axisIn(this.theme);
    const log = {
      ...style,
      grid: { ...style.grid, filter: labelled },
      ticks: { ...style.ticks, filter: labelled },
      filter: labelled,
      values: (_: uPlot, ticks: (number | null)[]) => ticks.map((v) => (v === null ? "" : figure(v, 2))),
    };
    return {
      width: Math.max(120, this.parent.clientWidth),
      height: this.height,
      legend: { show: false },
      padding: [6, 18, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false, distr: 3, range: around }, y: { distr: 3, range: around } },
      axes: [
        { ...log, size: 22, gap: 2 },
        { ...log, size: 52, gap: 3 },
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
    if (this.plot && width > 0) this.plot.setSize({ width, height: this.height });
  }

  close(): void {
    this.plot?.destroy();
    this.plot = null;
    this.dots.length = 0;
  }
}
