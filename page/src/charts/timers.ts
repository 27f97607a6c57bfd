/** How long each agent still waits before its next event: one bar per agent; of many, sorted. */

import type { ArcState } from "../arc/arc";
import { CanvasPen } from "../map/pen";
import { colourOf, type Theme } from "../map/theme";
import { plain, ticksOf } from "../map/ticks";
import { written, type Table } from "./words";

export const MANY = 80;
const LEFT = 44; // pixels of the scale
const FOOT = 14; // and of the numbers of agents
const NUMBERED = 30; // agents at most that have their numbers below

/** What is left of each timer; of many agents the longest first. */
export function waitsOf(state: ArcState): number[] {
  const waits = Array.from({ length: state.agents }, (_, p) =>
    state.present[p] ? Math.max(0, state.nextAt[p] - state.time) : 0,
  );
  return state.agents > MANY ? waits.sort((a, b) => b - a) : waits;
}

export function drawTimers(canvas: HTMLCanvasElement, state: ArcState, theme: Theme, longest: number): void {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const numbered = state.agents <= NUMBERED;
  const base = height - (numbered ? FOOT : 2);
  const scale = (base - 6) / (longest || 1);
  const pen = new CanvasPen(context);
  const label = { colour: theme.cell, size: 11 } as const;
  pen.begin();
  for (const v of ticksOf(0, longest || 1, base, 30)) {
    pen.move(LEFT, base - scale * v);
    pen.line(width, base - scale * v);
    pen.text(plain(v), LEFT - 6, base - scale * v, { ...label, align: "right" });
  }
  pen.stroke({ colour: theme.faint, width: 0.5 });
  const pitch = (width - LEFT) / state.agents;
  const bar = Math.max(1, Math.min(16, 0.7 * pitch));
  const many = state.agents > MANY;
  for (const [p, wait] of waitsOf(state).entries()) {
    const middle = LEFT + (p + 0.5) * pitch;
    const high = scale * Math.min(longest, wait);
    context.fillStyle = many ? theme.cell : colourOf(theme, p);
    context.fillRect(middle - bar / 2, base - high, bar, high);
    if (numbered) pen.text(String(p), middle, height - 5, { ...label, align: "center" });
  }
}

/** The timers as a table; of many agents the shortest, the middle and the longest. */
export function timerTable(state: ArcState): Table {
  const waits = waitsOf(state);
  const row = (name: string, wait: number): Table["rows"][number] => ({ name, values: [written(wait)] });
  const middle = waits.length >> 1;
  return {
    times: [written(state.time)],
    rows:
      waits.length > MANY
        ? [row("shortest", waits[waits.length - 1]), row("middle", waits[middle]), row("longest", waits[0])]
        : waits.map((wait, p) => row(`agent ${p}`, wait)),
  };
}
