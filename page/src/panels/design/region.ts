/** The admissible region over T2 and k1, both on log axes, and the point where the scenario is. */

import { logTicksOf } from "../../charts/log_ticks";
import { labelsOf } from "../../map/ticks";
import { CanvasPen, type Pen } from "../../map/pen";
import type { Theme } from "../../map/theme";
import { feasible, maxDwellTime, maxGain, reach, spread, syncGlobal, type Setting } from "./formulas";

const LEFT = 44;
const RIGHT = 10;
const TOP = 12;
const BOTTOM = 34;
const STEPS = 160;

export interface Frame {
  readonly t2: readonly [number, number];
  readonly k1: readonly [number, number];
  readonly width: number;
  readonly height: number;
}

const MARGIN = 2; // factor to either side of what must be seen

/** What must be seen, with a margin. */
export function frameOf(s: Setting, width: number, height: number): Frame {
  const span = (values: number[]): [number, number] => {
    const known = values.filter((v) => Number.isFinite(v) && v > 0);
    return [Math.min(...known) / MARGIN, Math.max(...known) * MARGIN];
  };
  return {
    t2: span([s.t2, maxDwellTime(s), syncGlobal(s)]),
    k1: span([s.k1, s.etaMax, maxGain(s)]),
    width,
    height,
  };
}

const log = Math.log10;
export const xOf = (f: Frame, t2: number): number =>
  LEFT + ((f.width - LEFT - RIGHT) * (log(t2) - log(f.t2[0]))) / (log(f.t2[1]) - log(f.t2[0]));
export const yOf = (f: Frame, k1: number): number =>
  f.height - BOTTOM - ((f.height - TOP - BOTTOM) * (log(k1) - log(f.k1[0]))) / (log(f.k1[1]) - log(f.k1[0]));

/** T2 and k1 under a point of the picture. */
export function under(f: Frame, x: number, y: number): { t2: number; k1: number } {
  const u = Math.min(1, Math.max(0, (x - LEFT) / (f.width - LEFT - RIGHT)));
  const v = Math.min(1, Math.max(0, (f.height - BOTTOM - y) / (f.height - TOP - BOTTOM)));
  const at = (span: readonly [number, number], share: number): number =>
    10 ** (log(span[0]) + share * (log(span[1]) - log(span[0])));
  return { t2: Number(at(f.t2, u).toPrecision(3)), k1: Number(at(f.k1, v).toPrecision(3)) };
}

/** Draws it, in the frame given or in one that suits; which frame it was. */
export function drawRegion(canvas: HTMLCanvasElement, s: Setting, theme: Theme, held: Frame | null): Frame {
  const ratio = devicePixelRatio || 1;
  const f = held ?? frameOf(s, canvas.clientWidth, canvas.clientHeight);
  canvas.width = Math.round(f.width * ratio);
  canvas.height = Math.round(f.height * ratio);
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const pen = new CanvasPen(context);
  context.save();
  context.beginPath();
  context.rect(LEFT, TOP, f.width - LEFT - RIGHT, f.height - TOP - BOTTOM);
  context.clip();
  paper(pen, f, s, theme);
  curve(pen, f, (t2) => reach(s) / t2, { colour: theme.limit, width: 1.6 });
  curve(pen, f, (t2) => (2 * reach(s)) / t2, { colour: theme.limit, width: 1.6, dash: [6, 4] });
  point(pen, f, s, theme);
  context.restore();
  axes(pen, f, theme);
  return f;
}

function spaced(f: Frame): number[] {
  const [a, b] = f.t2.map(log);
  return Array.from({ length: STEPS + 1 }, (_, k) => 10 ** (a + ((b - a) * k) / STEPS));
}

/** Where the paper's condition holds: above eta_max, and below a curve in T2. */
function paper(pen: Pen, f: Frame, s: Setting, theme: Theme): void {
  if (Number.isNaN(s.lipschitz)) return;
  const top = (t2: number): number => maxGain({ ...s, t2 });
  const least = s.tied ? f.k1[0] : s.etaMax; // an eta_max that moves with k1 stays below it
  const last = s.tied ? f.t2[1] : reach(s) / (s.etaMax * spread(s)); // where the curve comes down to eta_max
  const along = [...spaced(f).filter((t2) => t2 < last), Math.min(last, f.t2[1])];
  pen.begin();
  pen.move(xOf(f, f.t2[0]), yOf(f, least));
  for (const t2 of along) pen.line(xOf(f, t2), yOf(f, Math.max(least, top(t2))));
  pen.line(xOf(f, Math.min(last, f.t2[1])), yOf(f, least));
  pen.close();
  pen.fill({ colour: theme.good, alpha: 0.22 });
  pen.stroke({ colour: theme.good, width: 1.6 });
}

function curve(
  pen: Pen,
  f: Frame,
  k1: (t2: number) => number,
  ink: { colour: string; width: number; dash?: number[] },
): void {
  pen.begin();
  spaced(f).forEach((t2, k) =>
    k ? pen.line(xOf(f, t2), yOf(f, k1(t2))) : pen.move(xOf(f, t2), yOf(f, k1(t2))),
  );
  pen.stroke(ink);
}

/** Inside: a full dot; outside: a cross in a ring, so that colour alone need not tell. */
function point(pen: Pen, f: Frame, s: Setting, theme: Theme): void {
  const x = xOf(f, s.t2);
  const y = yOf(f, s.k1);
  const inside = feasible(s);
  pen.begin();
  pen.circle(x, y, 7);
  pen.fill({ colour: inside ? theme.good : theme.paper });
  pen.stroke({ colour: inside ? theme.paper : theme.bad, width: 2 });
  if (inside) return;
  pen.begin();
  pen.move(x - 3.5, y - 3.5);
  pen.line(x + 3.5, y + 3.5);
  pen.move(x - 3.5, y + 3.5);
  pen.line(x + 3.5, y - 3.5);
  pen.stroke({ colour: theme.bad, width: 2 });
}

/** Round numbers within an axis, with how they are written. */
function rounds([a, b]: readonly [number, number]): [number, string][] {
  const found = logTicksOf(a, b).filter((v) => v > a * 1.02 && v < b / 1.02);
  return labelsOf(found).map((label, k) => [found[k], label]);
}

function axes(pen: Pen, f: Frame, theme: Theme): void {
  const label = { colour: theme.cell, size: 11 } as const;
  pen.begin();
  pen.move(LEFT, TOP);
  pen.line(LEFT, f.height - BOTTOM);
  pen.line(f.width - RIGHT, f.height - BOTTOM);
  pen.stroke({ colour: theme.cell, width: 1 });
  for (const [t2, words] of rounds(f.t2))
    pen.text(words, xOf(f, t2), f.height - BOTTOM + 11, { ...label, align: "center" });
  for (const [k1, words] of rounds(f.k1)) pen.text(words, LEFT - 5, yOf(f, k1), { ...label, align: "right" });
  pen.text("T2", (LEFT + f.width - RIGHT) / 2, f.height - 8, {
    colour: theme.ink,
    size: 11.5,
    align: "center",
  });
  pen.text("k1", 4, TOP + 2, { colour: theme.ink, size: 11.5 });
}
