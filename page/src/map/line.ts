/** The map of a line: places to the right, time upward, the density under it. */

import type { Density } from "../density/density";
import { borders, intervalOf, placesOf } from "../geometry/cells";
import { drawAxes } from "./axes";
import { drawMark } from "./marks";
import type { Pen } from "./pen";
import { ageOf, named } from "./agents";
import { css } from "./ramp";
import type { Scene } from "./scene";
import { evenWidth, sizesOf } from "./sizes";
import { colourOf } from "./theme";
import { toX, toY } from "./view";

const TALLEST = 46; // pixels that the largest density is high

export function drawLineGround(pen: Pen, scene: Scene, density: Density | null): void {
  const { view, size, theme, region } = scene;
  const [a, b] = region.bounds as readonly [number, number];
  const floor = toY(view, size, 0);
  if (density && scene.layers.heat) profile(pen, scene, density, floor);
  pen.begin();
  const spans = scene.spans.length ? scene.spans : [{ from: 0, bounds: [a, b] as const }];
  for (const side of [0, 1] as const)
    spans.forEach(({ from, bounds }, k) => {
      const x = toX(view, size, bounds[side]);
      if (k) pen.line(x, toY(view, size, from));
      else pen.move(x, floor);
      pen.line(x, toY(view, size, spans[k + 1]?.from ?? (scene.end || 1)));
    });
  pen.move(toX(view, size, a), floor);
  pen.line(toX(view, size, b), floor);
  pen.stroke({ colour: theme.border, width: 1.4 });
  drawAxes(pen, scene, ["x", "time"], [scene.unit, scene.unit && "s"]);
}

function profile(pen: Pen, scene: Scene, density: Density, floor: number): void {
  const { view, size, theme } = scene;
  const [a, b] = scene.region.bounds as readonly [number, number];
  const values = Array.from({ length: 201 }, (_, k) => density([a + ((b - a) * k) / 200]));
  const most = Math.max(scene.most, ...values) || 1;
  pen.begin();
  pen.move(toX(view, size, a), floor);
  values.forEach((value, k) =>
    pen.line(toX(view, size, a + ((b - a) * k) / 200), floor - (TALLEST * value) / most),
  );
  pen.line(toX(view, size, b), floor);
  pen.close();
  pen.fill({ colour: css(theme.heat[theme.heat.length - 1]), alpha: 0.55 });
}

export function drawLine(pen: Pen, scene: Scene): void {
  const { view, size, theme, state } = scene;
  const bounds = scene.region.bounds as readonly [number, number];
  const now = toY(view, size, scene.time);
  pen.begin();
  pen.move(toX(view, size, bounds[0]), now);
  pen.line(toX(view, size, bounds[1]), now);
  pen.stroke({ colour: theme.limit, width: 1.4, dash: scene.radii ? [2, 4] : [] });
  if (scene.radii && scene.layers.cells) cells(pen, scene, scene.radii, now);
  else if (scene.layers.cells) {
    pen.begin();
    for (const members of scene.diagrams)
      for (const x of borders(bounds, members ? placesOf(state.positions, members, 1) : state.positions)) {
        pen.move(toX(view, size, x), now - 9);
        pen.line(toX(view, size, x), now + 9);
      }
    pen.stroke({ colour: theme.cell, width: 1.2 });
  }
  glance(pen, scene);
  if (scene.running && scene.layers.targets) targets(pen, scene, now);
  agents(pen, scene, now);
  if (scene.tool === "peaks") peaks(pen, scene);
  if (scene.tool === "workspace" && scene.region.editable) ends(pen, scene);
}

/** Cells that end where agents cease to sense: the line is whole within them. */
function cells(pen: Pen, scene: Scene, radii: Float64Array, now: number): void {
  const { view, size, theme, state, region } = scene;
  const members = scene.diagrams[0];
  const places = members ? placesOf(state.positions, members, 1) : state.positions;
  const own = members ? placesOf(radii, members, 1) : radii;
  const found = Array.from(places, (_, p) =>
    intervalOf(region.bounds as readonly [number, number], places, p, own),
  ).filter(([a, b]) => a < b);
  pen.begin();
  for (const [a, b] of found) {
    pen.move(toX(view, size, a), now);
    pen.line(toX(view, size, b), now);
  }
  pen.stroke({ colour: theme.limit, width: 1.4 });
  pen.begin();
  for (const x of found.flat()) {
    pen.move(toX(view, size, x), now - 9);
    pen.line(toX(view, size, x), now + 9);
  }
  pen.stroke({ colour: theme.cell, width: 1.2 });
}

function ends(pen: Pen, scene: Scene): void {
  const { view, size, theme } = scene;
  for (const [k, end] of (scene.region.bounds ?? []).entries()) {
    pen.begin();
    pen.circle(toX(view, size, end), toY(view, size, 0), 7);
    pen.fill({ colour: theme.paper });
    pen.stroke({ colour: theme.select, width: k === scene.selectedCorner ? 4 : 2 });
  }
}

function glance(pen: Pen, scene: Scene): void {
  const seen = scene.glance;
  if (!seen) return;
  const { view, size, theme } = scene;
  const y = toY(view, size, seen.time);
  pen.begin();
  for (const cell of [seen.cell, ...seen.others]) {
    pen.move(toX(view, size, cell[0]), y);
    pen.line(toX(view, size, cell[1]), y);
  }
  pen.stroke({ colour: theme.flash, width: 7, alpha: 0.3 });
  const x = toX(view, size, seen.centroid[0]);
  pen.begin();
  pen.move(x, y - 7);
  pen.line(x, y + 7);
  pen.stroke({ colour: theme.flash, width: 2 });
}

function targets(pen: Pen, scene: Scene, now: number): void {
  const { view, size, theme, state } = scene;
  pen.begin();
  for (let p = 0; p < state.agents; p++) {
    if (!state.present[p]) continue;
    const x = toX(view, size, state.targets[p]);
    pen.move(x - 3, now - 3);
    pen.line(x + 3, now + 3);
    pen.move(x - 3, now + 3);
    pen.line(x + 3, now - 3);
  }
  pen.stroke({ colour: theme.ink, width: 1 });
}

function agents(pen: Pen, scene: Scene, now: number): void {
  const { view, size, theme, state } = scene;
  const { dot, ripple } = sizesOf(scene, evenWidth(scene));
  const numbers = new Set(named(scene, 40));
  for (let p = 0; p < state.agents; p++) {
    if (!state.present[p]) continue;
    const x = toX(view, size, state.positions[p]);
    const ring = (radius: number, colour: string, alpha = 1): void => {
      pen.begin();
      pen.circle(x, now, radius);
      pen.stroke({ colour, width: 1.8, alpha });
    };
    const age = scene.running ? ageOf(scene, p) : 1;
    if (age < 1) ring(dot + 1 + ripple * age, theme.flash, 1 - age * age);
    pen.begin();
    drawMark(pen, scene.marks?.[p] ?? 0, x, now, dot);
    pen.stroke({ colour: theme.paper, width: 2.6 });
    pen.fill({ colour: colourOf(theme, p) });
    if (scene.running && p === scene.latest) ring(dot + 4, theme.flash);
    else if (p === scene.selected || p === scene.hovered) ring(dot + 4, theme.select);
    if (numbers.has(p))
      pen.text(String(p), x, now - dot - 9, {
        colour: theme.ink,
        size: p === scene.latest ? 13 : 11,
        align: "center",
        halo: theme.paper,
      });
  }
}

function peaks(pen: Pen, scene: Scene): void {
  const { view, size, theme } = scene;
  const floor = toY(view, size, 0);
  for (const [k, peak] of scene.peaks.entries()) {
    pen.begin();
    pen.circle(toX(view, size, peak.center?.[0] ?? 0), floor, 7);
    pen.fill({ colour: theme.paper });
    pen.stroke({ colour: theme.select, width: k === scene.selectedPeak ? 4 : 2 });
  }
}
