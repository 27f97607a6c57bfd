/** In the upper corner of a map: the scale of the density, and what is known of the chosen agent. */

import { plain } from "./axes";
import { shade } from "./heat";
import type { Pen } from "./pen";
import type { Scene } from "./scene";

const WIDE = 90;
const STEPS = 24;
const DIGIT = 6.2; // pixels, about
const NARROW = 420;

const SHADED = 300; // agents; the shade among more of them takes too long for a frame

export const BEYOND = 0.5; // how much of the shade there is where no agent senses

/** Whether there is a shade where no agent senses. */
export const isShaded = ({ radii, layers, state }: Scene): boolean =>
  radii !== null && layers.cells && state.agents <= SHADED;

const short = (v: number): string => plain(Number(v.toPrecision(3)));

export function drawScale(pen: Pen, scene: Scene): void {
  const { heat, theme, size } = scene;
  if (!heat || !scene.scaled || !scene.layers.heat || heat.most === heat.least) return;
  const most = short(heat.most);
  const right = size.width - 18 - DIGIT * most.length;
  for (let k = 0; k < STEPS; k++) {
    const [r, g, b] = shade(theme, (k + 0.5) / STEPS).map(Math.round);
    box(pen, right - WIDE + (k * WIDE) / STEPS, 10, WIDE / STEPS + 0.5, 8);
    pen.fill({ colour: `rgb(${r},${g},${b})` });
  }
  box(pen, right - WIDE, 10, WIDE, 8);
  pen.stroke({ colour: theme.cell, width: 0.8 });
  const label = { colour: theme.cell, size: 10.5, halo: theme.paper } as const;
  pen.text("density 0", right - WIDE - 6, 14, { ...label, align: "right" });
  pen.text(most, right + 6, 14, label);
}

/** What the shade means; under the scale of the density. */
export function drawRangeKey(pen: Pen, scene: Scene): void {
  const { theme, size } = scene;
  if (!scene.scaled || !isShaded(scene)) return;
  pen.text("out of range", size.width - 18, 30, {
    colour: theme.cell,
    size: 10.5,
    halo: theme.paper,
    align: "right",
  });
  box(pen, size.width - 102, 26, 14, 8);
  pen.fill({ colour: theme.faint, alpha: BEYOND });
  pen.stroke({ colour: theme.cell, width: 0.8 });
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
    const looks = scene.looks;
    words.push(`error ${short(state.errors[which])} when it last ${looks ? "looked" : "chose its course"}`);
    if (Number.isFinite(state.nextAt[which]))
      words.push(
        `${looks ? "looks" : "does so"} again in ${short(Math.max(0, state.nextAt[which] - state.time))}`,
      );
  }
  const top = scene.size.width >= NARROW ? 14 : scene.radii ? 50 : 34; // under the keys where there is no room beside them
  words.forEach((line, k) =>
    pen.text(line, 46, top + 15 * k, { colour: theme.ink, size: 11.5, halo: theme.paper }),
  );
}
