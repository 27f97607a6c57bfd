/** Agents on the map of a plane: what they hold, aim at, and that they have just sampled. */

import { drawMark } from "./marks";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { arrowOf, type Sizes } from "./sizes";
import { colourOf } from "./theme";
import { toX, toY } from "./view";

/** One path for each colour, over the agents of that colour that are present. */
function perColour(
  { state, theme }: Scene,
  pen: Pen,
  draw: (p: number) => void,
  end: (colour: string) => void,
): void {
  const colours = Math.min(theme.agents.length, state.agents);
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    for (let p = colour; p < state.agents; p += colours) if (state.present[p]) draw(p);
    end(colourOf(theme, colour));
  }
}

/** Targets as crosses, each tied to its agent. */
export function drawTargets(pen: Pen, scene: Scene, { dot, arm }: Sizes): void {
  const { state, view, size, theme } = scene;
  const x = (p: number): number => toX(view, size, state.targets[2 * p]);
  const y = (p: number): number => toY(view, size, state.targets[2 * p + 1]);
  const tie = (p: number): void => {
    const px = toX(view, size, state.positions[2 * p]);
    const py = toY(view, size, state.positions[2 * p + 1]);
    if (Math.hypot(px - x(p), py - y(p)) < dot + arm) return;
    pen.move(px, py);
    pen.line(x(p), y(p));
  };
  perColour(scene, pen, tie, (colour) => pen.stroke({ colour, width: 1, alpha: 0.75, dash: [2, 2.5] }));
  pen.begin();
  for (let p = 0; p < state.agents; p++) {
    if (!state.present[p]) continue;
    pen.move(x(p) - arm, y(p) - arm);
    pen.line(x(p) + arm, y(p) + arm);
    pen.move(x(p) - arm, y(p) + arm);
    pen.line(x(p) + arm, y(p) - arm);
  }
  pen.stroke({ colour: theme.ink, width: 1.1, alpha: 0.85 });
}

export function arrow(pen: Pen, x: number, y: number, dx: number, dy: number): void {
  const length = Math.hypot(dx, dy);
  const head = Math.min(5, 0.4 * length) / length;
  pen.move(x, y);
  pen.line(x + dx, y + dy);
  pen.move(x + dx - head * (dx - 0.6 * dy), y + dy - head * (dy + 0.6 * dx));
  pen.line(x + dx, y + dy);
  pen.line(x + dx - head * (dx + 0.6 * dy), y + dy - head * (dy - 0.6 * dx));
}

/** Held velocities as arrows from the edge of each agent; one scale for all maps and times. */
export function drawHolds(pen: Pen, scene: Scene, { dot }: Sizes): void {
  const { state, view, size, theme, speed } = scene;
  if (!(speed > 0)) return;
  const scale = arrowOf(scene) / speed;
  pen.begin();
  for (let p = 0; p < state.agents; p++) {
    const dx = scale * state.velocities[2 * p];
    const dy = -scale * state.velocities[2 * p + 1];
    const length = Math.hypot(dx, dy);
    if (length < 1 || !state.present[p]) continue;
    const x = toX(view, size, state.positions[2 * p]) + (dot * dx) / length;
    const y = toY(view, size, state.positions[2 * p + 1]) + (dot * dy) / length;
    arrow(pen, x, y, dx, dy);
  }
  pen.stroke({ colour: theme.ink, width: 1.2 });
}

const RIPPLES = 5; // shades of rings that fade

/** A ring round each agent that has just sampled, which grows and fades. */
function ripples(pen: Pen, scene: Scene, x: At, y: At, { dot, ripple }: Sizes): void {
  const { state, theme } = scene;
  const wide = Math.min(2, 0.5 + 0.25 * dot);
  const by: [number, number][][] = Array.from({ length: RIPPLES }, () => []);
  for (let p = 0; p < state.agents; p++) {
    const age = ageOf(scene, p);
    if (age < 1) by[Math.floor(RIPPLES * age)].push([p, age]);
  }
  by.forEach((some, k) => {
    if (!some.length) return;
    pen.begin();
    for (const [p, age] of some) pen.circle(x(p), y(p), dot + 1 + ripple * eased(age));
    pen.stroke({ colour: theme.flash, width: wide * (1 - 0.1 * k), alpha: 1 - (k / RIPPLES) ** 2 });
  });
}

type At = (p: number) => number;

/** Fast at first, then slower. */
const eased = (share: number): number => 1 - (1 - share) ** 3;

export function drawAgents(pen: Pen, scene: Scene, sizes: Sizes): void {
  const { state, view, size, theme } = scene;
  const { dot } = sizes;
  const px: At = (p) => toX(view, size, state.positions[2 * p]);
  const py: At = (p) => toY(view, size, state.positions[2 * p + 1]);
  if (scene.running && scene.fresh > 0) ripples(pen, scene, px, py, sizes);
  const mark = (p: number): void => drawMark(pen, scene.marks?.[p] ?? 0, px(p), py(p), dot);
  perColour(scene, pen, mark, (colour) => {
    if (dot > 2) pen.stroke({ colour: theme.paper, width: dot > 3 ? 2.6 : 1.6 });
    pen.fill({ colour });
  });
  const ring = (p: number, away: number, colour: string): void => {
    if (!isThere(scene, p)) return;
    pen.begin();
    pen.circle(px(p), py(p), dot + away);
    pen.stroke({ colour, width: 2 });
  };
  ring(scene.selected, 5, theme.select);
  ring(scene.latest, 3, theme.flash);
  for (const p of named(scene, 60)) {
    const bold = p === scene.latest;
    const [vx, vy] = [state.velocities[2 * p], state.velocities[2 * p + 1]];
    const left = scene.running && scene.layers.holds && vx > 0 && vy > 0; // an arrow is on the right
    pen.text(String(p), px(p) + (left ? -1 : 1) * (dot + 3), py(p) - dot - 2, {
      colour: theme.ink,
      align: left ? "right" : "left",
      size: bold ? 13 : 11,
      halo: theme.paper,
    });
  }
}

/** Whether there is an agent of this number, and it is present. */
export const isThere = ({ state }: Scene, p: number): boolean =>
  p >= 0 && p < state.agents && state.present[p] > 0;

/** The agents that have their number beside them: all, if wanted, else those that are spoken of. */
export function named(scene: Scene, most: number): number[] {
  const { layers, state, latest, selected, hovered } = scene;
  const all = layers.names && state.agents <= most;
  const wanted = all
    ? Array.from({ length: state.agents }, (_, p) => p)
    : [...new Set([latest, selected, hovered])];
  return wanted.filter((p) => isThere(scene, p));
}

/** How far the ring of an agent's last sample has gone, from 0 to 1; 1 where there is none. */
export function ageOf(scene: Scene, p: number): number {
  const { state } = scene;
  const wait = state.nextAt[p] - state.since[p];
  const lasts = Math.min(scene.fresh, 0.5 * wait); // it ends well before the next one
  if (state.rows[p] < 0 || !state.present[p] || !(lasts > 0)) return 1;
  return Math.min(1, (state.time - state.since[p]) / lasts);
}
