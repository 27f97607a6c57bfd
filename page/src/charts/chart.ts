/** Chart: curves over time with a line at the clock's time; a click or drag moves the clock. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { FONT } from "../map/pen";
import { dashOf, type Theme } from "../map/theme";
import { labelsOf, ticksOf } from "../map/ticks";
import "./charts.css";
import type { Curves } from "./data";
import { logTicksOf } from "./log_ticks";
import { valueAt, written } from "./words";

export interface ChartOptions {
  readonly log: boolean;
  readonly theme: Theme;
  /** Colours of the curves. */
  readonly colours: (k: number, count: number) => string;
  readonly dashed: boolean; // whether patterns tell curves apart when colours are used up
  readonly limits: () => readonly number[]; // horizontal dashed lines
  readonly limitName?: string; // what stands beside them
  readonly label?: string; // of the vertical axis
  readonly unit?: string; // of lengths: "m" where times are in seconds
  readonly power?: 0 | -1; // of time in the unit of the vertical axis, where that has a length
  readonly end: () => number;
  readonly seek: (t: number) => void;
  readonly hover: ((line: number) => void) | null;
  readonly height: number; // on a narrow panel; on a wide one it is more
  readonly group: string;
}

const NARROW = 360; // pixels
const TALLEST = 1.7;
const AT_ONCE = 3; // curves whose values stand at the crosshair together; of more, the nearest
const TEXT = `11px ${FONT}`; // a whole number of pixels: uPlot scales no others

/** The height of a chart of some width, `height` on a narrow panel. */
export const heightFor = (height: number, width: number): number =>
  Math.round(height * Math.min(TALLEST, Math.max(1, width / NARROW)));

/** How axes are drawn. */
export const axisIn = (theme: Theme): uPlot.Axis => ({
  stroke: theme.cell,
  grid: { stroke: theme.faint, width: 0.5 },
  ticks: { stroke: theme.faint, width: 0.5, size: 4 },
  font: TEXT,
  labelFont: TEXT,
  labelSize: 15,
  filter: (_, splits) => splits, // all of them: uPlot leaves some of a log axis out
  values: (_, splits) => labelsOf(splits),
});

const EMPTY: Curves = { time: [0], lines: [[null]], names: [""] };

export class Chart {
  private plot: uPlot | null = null;
  private shape = "";
  private readonly now = document.createElement("div");
  private readonly tip = document.createElement("div");
  private curves: Curves = EMPTY;
  private time = 0;
  private focused = -1;
  private telling = false; // while a curve is brought forward from outside

  constructor(
    private readonly parent: HTMLElement,
    private readonly options: ChartOptions,
  ) {
    this.now.className = "chart-now";
    this.tip.className = "chart-tip";
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
    this.plot.over.append(this.now, this.tip);
    this.listen(this.plot.over);
  }

  private heightFor(width: number): number {
    return heightFor(this.options.height, width);
  }

  private axes(): uPlot.Axis[] {
    const { theme, log, label, unit, power } = this.options;
    const named = label && unit && power !== undefined ? `${label}, ${unit}${power ? "/s" : ""}` : label;
    const axis = axisIn(theme);
    return [
      {
        ...axis,
        size: 22,
        gap: 2,
        label: unit ? "time, s" : "time",
        splits: (u, _, from, to) => ticksOf(from, to, u.bbox.width / devicePixelRatio),
      },
      {
        ...axis,
        size: 48,
        gap: 3,
        ...(named ? { label: named } : {}),
        splits: (u, _, from, to) =>
          log ? logTicksOf(from, to) : ticksOf(from, to, u.bbox.height / devicePixelRatio, 36),
      },
    ];
  }

  private settings(): uPlot.Options {
    const { theme, log } = this.options;
    const count = this.curves.lines.length;
    const width = Math.max(120, this.parent.clientWidth);
    return {
      width,
      height: this.heightFor(width),
      legend: { show: false },
      padding: [8, 18, 0, 0],
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
      axes: this.axes(),
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
        setCursor: [(u) => this.showValues(u)],
        setSeries: [(_, k) => this.telling || this.options.hover?.(k === null ? -1 : k - 1)],
      },
    };
  }

  /** What the curves are at the crosshair. */
  private showValues(u: uPlot): void {
    const { left = -1, top = -1, idx } = u.cursor;
    const { time, lines, names } = this.curves;
    const values = lines.map((line) => (idx == null ? null : valueAt(line, idx)));
    const known = values.flatMap((v, k) => (v === null ? [] : [k]));
    this.tip.hidden = left < 0 || idx == null || !known.length;
    if (this.tip.hidden || idx == null) return;
    const far = (k: number): number => Math.abs(u.valToPos(values[k] ?? 0, "y") - top);
    const nearest = known.reduce((best, k) => (far(k) < far(best) ? k : best));
    const shown = lines.length > AT_ONCE ? [nearest] : known;
    const words = shown.map((k) => `${lines.length > 1 ? `${names[k]} ` : ""}${written(values[k])}`);
    this.tip.textContent = [`t ${written(time[idx])}`, ...words].join("\n");
    const flip = left > u.over.clientWidth / 2;
    this.tip.style.transform = `translate(${flip ? left - 8 : left + 8}px, 2px) translateX(${flip ? -100 : 0}%)`;
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
    ctx.font = `${11 * devicePixelRatio}px ${FONT}`;
    ctx.fillStyle = this.options.theme.limit;
    ctx.textAlign = "right";
    ctx.strokeStyle = this.options.theme.limit;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const limit of this.options.limits()) {
      const y = u.valToPos(limit, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      const below = y < bbox.top + 16 * devicePixelRatio;
      ctx.textBaseline = below ? "top" : "bottom";
      const away = (below ? 2 : -2) * devicePixelRatio;
      ctx.fillText(this.options.limitName ?? "", bbox.left + bbox.width - 3 * devicePixelRatio, y + away);
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
    if (this.plot && width > 0) this.plot.setSize({ width, height: this.heightFor(width) });
    this.moveTo(this.time);
  }

  close(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
