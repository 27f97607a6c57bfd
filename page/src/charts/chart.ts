/** Chart: curves over time with a line at the clock's time; a click or drag moves the clock. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { dashOf, type Theme } from "../map/theme";
import type { Curves } from "./data";

export interface ChartOptions {
  readonly log: boolean;
  readonly theme: Theme;
  /** Colours of the curves. */
  readonly colours: (k: number, count: number) => string;
  readonly dashed: boolean; // whether patterns tell curves apart when colours are used up
  readonly limits: () => readonly number[]; // horizontal dashed lines
  readonly end: () => number;
  readonly seek: (t: number) => void;
  readonly hover: ((line: number) => void) | null;
  readonly height: number;
  readonly group: string;
}

const EMPTY: Curves = { time: [0], lines: [[null]], names: [""] };

export class Chart {
  private plot: uPlot | null = null;
  private shape = "";
  private readonly now = document.createElement("div");
  private curves: Curves = EMPTY;
  private time = 0;
  private focused = -1;
  private telling = false; // while a curve is brought forward from outside

  constructor(
    private readonly parent: HTMLElement,
    private readonly options: ChartOptions,
  ) {
    this.now.className = "chart-now";
  }

  show(curves: Curves): void {
    this.curves = curves.time.length ? curves : EMPTY;
    const shape = `${this.curves.names.join()}`;
    if (!this.plot || shape !== this.shape) this.build(shape);
    else this.plot.setData(this.data());
    this.moveTo(this.time);
  }

  private data(): uPlot.AlignedData {
    return [this.curves.time, ...this.curves.lines] as uPlot.AlignedData;
  }

  private build(shape: string): void {
    this.plot?.destroy();
    this.shape = shape;
    this.focused = -1;
    this.plot = new uPlot(this.settings(), this.data(), this.parent);
    this.plot.over.append(this.now);
    this.listen(this.plot.over);
  }

  private settings(): uPlot.Options {
    const { theme, log, height } = this.options;
    const axis = axisIn(theme);
    const count = this.curves.lines.length;
    return {
      width: Math.max(120, this.parent.clientWidth),
      height,
      legend: { show: false },
      padding: [6, 18, 0, 0],
      cursor: {
        sync: { key: this.options.group },
        drag: { x: false, y: false },
        focus: { prox: this.options.hover ? 10 : -1 },
        points: { show: false },
      },
      focus: { alpha: 0.25 },
      scales: {
        x: { time: false, range: () => [0, this.options.end() || 1] },
        y: { distr: log ? 3 : 1, range: (_, low, high) => this.range(low, high) },
      },
      axes: [
        { ...axis, size: 22, gap: 2 },
        {
          ...axis,
          ...(log
            ? { grid: { ...axis.grid, filter: wholePowers }, ticks: { ...axis.ticks, filter: wholePowers } }
            : {}),
          size: 52,
          gap: 3,
          values: (_, ticks) => ticks.map((v) => (log ? powers(v) : short(v))),
        },
      ],
      series: [
        {},
        ...this.curves.lines.map((_, k) => ({
          stroke: this.options.colours(k, count),
          width: count > 8 ? 1 : 1.5,
          dash: this.options.dashed ? [...dashOf(theme, k)] : [],
          spanGaps: true,
          points: { show: false },
        })),
      ],
      hooks: {
        draw: [(u) => this.drawLimits(u)],
        setSeries: [(_, k) => this.telling || this.options.hover?.(k === null ? -1 : k - 1)],
      },
    };
  }

  private range(low: number | null, high: number | null): [number, number] {
    const limits = this.options.limits();
    const a = Math.min(low ?? Infinity, ...limits);
    const b = Math.max(high ?? -Infinity, ...limits);
    if (!Number.isFinite(a) || !Number.isFinite(b)) return this.options.log ? [1e-3, 1] : [0, 1];
    if (this.options.log)
      return [10 ** Math.floor(Math.log10(a) + 1e-9), 10 ** Math.ceil(Math.log10(b * 1.05))];
    return [0, b * 1.08 || 1];
  }

  private drawLimits(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = this.options.theme.limit;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const limit of this.options.limits()) {
      const y = u.valToPos(limit, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  private listen(over: HTMLElement): void {
    const go = (e: PointerEvent): void => {
      const box = over.getBoundingClientRect();
      this.options.seek(this.plot?.posToVal(e.clientX - box.left, "x") ?? 0);
    };
    over.addEventListener("pointerdown", (e) => {
      over.setPointerCapture(e.pointerId);
      go(e);
    });
    over.addEventListener("pointermove", (e) => e.buttons === 1 && go(e));
  }

  moveTo(t: number): void {
    this.time = t;
    if (!this.plot) return;
    this.now.style.transform = `translateX(${this.plot.valToPos(t, "x")}px)`;
  }

  /** Bring one curve forward; -1 for none. */
  focus(line: number): void {
    if (!this.plot || line === this.focused || line >= this.curves.lines.length) return;
    this.focused = line;
    this.telling = true;
    this.plot.setSeries(line < 0 ? null : line + 1, { focus: true }, false);
    this.telling = false;
  }

  resize(width: number): void {
    if (this.plot && width > 0) this.plot.setSize({ width, height: this.options.height });
    this.moveTo(this.time);
  }

  close(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}

/** How axes are drawn. */
export const axisIn = (theme: Theme) => ({
  stroke: theme.cell,
  grid: { stroke: theme.faint, width: 0.5 },
  ticks: { stroke: theme.faint, width: 0.5, size: 4 },
  font: "11px system-ui, sans-serif", // a whole number of pixels, which the library can scale
});

const short = (v: number): string =>
  Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3)
    ? v.toExponential(0)
    : String(Number(v.toPrecision(4)));

const isPower = (v: number): boolean => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6;

/** On a log axis only whole powers of ten have a line and a number. */
const wholePowers = (_: uPlot, ticks: number[]): (number | null)[] =>
  ticks.map((v) => (isPower(v) ? v : null));

function powers(v: number | null): string {
  if (v === null || !isPower(v)) return "";
  const p = Math.round(Math.log10(v));
  if (p >= -2 && p <= 3) return String(Number(v.toPrecision(1)));
  return `10${[...String(p)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("")}`;
}
