/** In the upper corner of a map: the scale of the density, and what is known of the chosen agent. */

import type { Density } from "../density/density";
import { arrow } from "./agents";
import type { Pen } from "./pen";
import { css, shade } from "./ramp";
import type { Scene } from "./scene";
import { arrowOf } from "./sizes";
import { plain } from "./ticks";
import { toX, toY } from "./view";

const STEPS = 24;
const DIGIT = 6.4; // pixels, about
const NARROW = 420;
const LINE = 16; // pixels from line to line

const SHADED = 300; // agents; the shade among more of them takes too long for a frame

export const BEYOND = 0.5; // how much of the shade there is where no agent senses

/** Whether there is a shade where no agent senses. */
export const isShaded = ({ radii, layers, state }: Scene): boolean =>
  radii !== null && layers.cells && state.agents <= SHADED;

const short = (v: number): string => plain(Number(v.toPrecision(3)));

const labelOf = ({ theme }: Scene) => ({ colour: theme.cell, size: 11, halo: theme.paper }) as const;

/** Pixels of the scale of the density. */
const wideOf = ({ size }: Scene): number => (size.width < NARROW ? 36 : 90);

/** Whether both scales have space in one line. */
const inOneLine = ({ size }: Scene): boolean => size.width >= 236;

const hasDensity = ({ heat, layers }: Scene): boolean =>
  heat !== null && layers.heat && heat.most !== heat.least;
const hasArrows = ({ running, layers, speed }: Scene): boolean => running && layers.holds && speed > 0;

/** The scales of the density and of the arrows, side by side; that of the density alone on a narrow map. */
export function drawScale(pen: Pen, scene: Scene): void {
  if (!scene.scaled) return;
  const taken = hasDensity(scene) ? density(pen, scene) : 0;
  if (hasArrows(scene) && (inOneLine(scene) || !taken)) arrows(pen, scene, taken);
}

/** How wide it is. */
function density(pen: Pen, scene: Scene): number {
  const { heat, theme, size } = scene;
  const most = short(heat?.most ?? 0);
  const wide = wideOf(scene);
  const right = size.width - 18 - DIGIT * most.length;
  for (let k = 0; k < STEPS; k++) {
    box(pen, right - wide + (k * wide) / STEPS, 10, wide / STEPS + 0.5, 8);
    pen.fill({ colour: css(shade(theme.heat, (k + 0.5) / STEPS)) });
  }
  box(pen, right - wide, 10, wide, 8);
  pen.stroke({ colour: theme.cell, width: 0.8 });
  pen.text("density 0", right - wide - 6, 14, { ...labelOf(scene), align: "right" });
  pen.text(most, right + 6, 14, labelOf(scene));
  return size.width - (right - wide - 6 - 9 * DIGIT);
}

function arrows(pen: Pen, scene: Scene, taken: number): void {
  const y = 14;
  const length = arrowOf(scene);
  const words = short(scene.speed);
  const right = scene.size.width - taken - 18 - DIGIT * words.length;
  pen.begin();
  arrow(pen, right - length, y, length, 0);
  pen.stroke({ colour: scene.theme.ink, width: 1.2 });
  pen.text(scene.unit ? `speed, ${scene.unit}/s` : "speed", right - length - 6, y, {
    ...labelOf(scene),
    align: "right",
  });
  pen.text(words, right + 6, y, labelOf(scene));
}

/** What the shade means; under the scale of the density. */
export function drawRangeKey(pen: Pen, scene: Scene): void {
  const { theme, size } = scene;
  if (!scene.scaled || !isShaded(scene)) return;
  const y = 14 + LINE;
  pen.text("out of range", size.width - 18, y, { ...labelOf(scene), align: "right" });
  box(pen, size.width - 18 - 13.5 * DIGIT - 8, y - 4, 14, 8);
  pen.fill({ colour: theme.faint, alpha: BEYOND });
  pen.stroke({ colour: theme.cell, width: 0.8 });
}

const NOTHING = 1e-290; // densities below this have no mass that could be computed with

/** That the density vanishes in the workspace, where the map would be blank without a reason. */
export function drawEmpty(pen: Pen, scene: Scene, of: Density | null): void {
  const { view, size, frame, theme, region, peaks } = scene;
  if (!of || scene.shadow) return;
  const { left, right, bottom, top } = frame;
  const flat = region.dimension === 2;
  const middle = [(left + right) / 2, (bottom + top) / 2];
  const inside = (z: readonly number[]): boolean =>
    z[0] >= left && z[0] <= right && (!flat || (z[1] >= bottom && z[1] <= top));
  const most = flat
    ? (scene.heat?.most ?? 0)
    : Math.max(...Array.from({ length: 101 }, (_, k) => of([left + ((right - left) * k) / 100])));
  if (most > NOTHING || peaks.some(({ center }) => center && inside(center))) return;
  const label = { colour: theme.bad, size: 13, align: "center", bold: true, halo: theme.paper } as const;
  const x = toX(view, size, middle[0]);
  const y = toY(view, size, middle[1]);
  pen.text("The density is 0 in the whole workspace:", x, y - 10, label);
  pen.text("no point of it counts, and the cost is 0.", x, y + 10, label);
}

function box(pen: Pen, x: number, y: number, width: number, height: number): void {
  pen.begin();
  pen.move(x, y);
  pen.line(x + width, y);
  pen.line(x + width, y + height);
  pen.line(x, y + height);
  pen.close();
}

export function drawAbout(pen: Pen, scene: Scene): void {
  const which = scene.hovered >= 0 ? scene.hovered : scene.selected;
  const { state, theme } = scene;
  if (which < 0 || which >= state.agents) return;
  const n = state.dimension;
  const place = Array.from(state.positions.subarray(n * which, n * which + n), short).join(", ");
  const here = state.present[which] > 0;
  const words = [here ? `agent ${which} at ${place}` : `agent ${which} is absent`];
  if (scene.radii && here) words[0] += `, senses up to ${short(scene.radii[which])}`;
  if (scene.running && here) {
    const { samples } = scene;
    words.push(
      `error ${short(state.errors[which])} when it last ${samples ? "sampled" : "chose its velocity"}`,
    );
    if (Number.isFinite(state.nextAt[which]))
      words.push(
        `${samples ? "samples" : "does so"} again in ${short(Math.max(0, state.nextAt[which] - state.time))}`,
      );
  }
  const keys = 1 + (hasArrows(scene) && !inOneLine(scene) ? 1 : 0) + (isShaded(scene) ? 1 : 0);
  const top = scene.size.width >= 1.9 * NARROW ? 14 : 18 + LINE * keys; // under the keys where these need the width
  words.forEach((line, k) =>
    pen.text(line, 12, top + LINE * k, { colour: theme.ink, size: 12, halo: theme.paper }),
  );
}
