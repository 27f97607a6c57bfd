/** Space as a picture that can be turned: outline, axes, slices of the density, paths, a cell, agents. */

import type { Density } from "../density/density";
import { hull, type Point } from "../geometry/polygon";
import type { Region } from "../geometry/workspace";
import { drawScale } from "../map/legend";
import { Memo } from "../map/memo";
import type { Orbit } from "../map/orbit";
import type { Pen } from "../map/pen";
import type { Scene, Space } from "../map/scene";
import { drawHeads, drawPaths } from "../map/trails";
import { toX, toY } from "../map/view";
import { drawAgents, nearestAgent } from "./agents";
import { drawBoxAxes } from "./axes";
import { Projection } from "./projection";
import { slicesOf, type Slices } from "./slices";
import { cellIn, sectionOf, type Face, type Solid } from "./solid";
import { dot, vectorAt, type Vector } from "./vector";
import { solidOf } from "./workspaces";

const UNITS: readonly Vector[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

const FITS = 0.88; // share of the radius that is fitted: corners that go beyond it have the margin
const FITS_ROUND = 1.4; // of a curved workspace, whose axes stand beside it

type Table = Readonly<Record<string, unknown>>;

/** What does not change as a workspace is turned. */
class Model {
  readonly solid: Solid;
  readonly circles: readonly (readonly Vector[])[]; // on a curved surface
  private readonly slices = new Memo<Slices>();

  constructor(table: Table) {
    this.solid = solidOf(table);
    const { middle } = new Projection(this.solid, { azimuth: 0, elevation: 0 });
    this.circles = this.solid.curved ? UNITS.map((axis, i) => sectionOf(this.solid, axis, middle[i])) : [];
  }

  slicesOf(density: Density, through: Vector, theme: Scene["theme"]): Slices {
    return this.slices.get([density, theme, ...through], () => slicesOf(this.solid, density, through, theme));
  }
}

const models = new WeakMap<Table, Model>();

/** A workspace of three dimensions as it is seen from an orbit. */
export function spaceOf(table: Table, orbit: Orbit): Turned {
  const model = models.get(table) ?? new Model(table);
  models.set(table, model);
  return new Turned(model, orbit);
}

export class Turned implements Space {
  readonly projection: Projection;
  readonly region: Region; // a square that has it all in it, however it is turned

  constructor(
    private readonly model: Model,
    orbit: Orbit,
  ) {
    this.projection = new Projection(model.solid, orbit);
    const r = (model.solid.curved ? FITS_ROUND : FITS) * this.projection.radius;
    const ring: Point[] = [
      [-r, -r],
      [r, -r],
      [r, r],
      [-r, r],
    ];
    this.region = { dimension: 2, ring, bounds: null, editable: false };
  }

  project(z: ArrayLike<number>): [number, number] {
    const [x, y] = this.projection.at([z[0], z[1], z[2]]);
    return [x, y];
  }

  agentAt(scene: Scene, px: number, py: number, reach: number): number {
    return nearestAgent(scene, this.projection, px, py, reach);
  }

  draw(pen: Pen, scene: Scene, density: Density | null): void {
    const slices =
      density && scene.layers.heat
        ? this.model.slicesOf(density, focusOf(scene, density, this.projection.middle), scene.theme)
        : null;
    drawScale(pen, { ...scene, heat: slices && scaleOf(slices, scene) });
    this.outline(pen, scene, false);
    drawBoxAxes(pen, scene, this.projection);
    if (slices) this.drawSlices(pen, scene, slices);
    if (scene.layers.trails) this.drawTrails(pen, scene);
    this.drawCell(pen, scene);
    drawAgents(pen, scene, this.projection);
    this.outline(pen, scene, true);
  }

  private drawTrails(pen: Pen, scene: Scene): void {
    drawPaths(pen, scene);
    const live = scene.stretches.at(-1);
    if (scene.running && live) drawHeads(pen, scene, live);
  }

  private screen(scene: Scene, z: Vector): [number, number] {
    const [x, y] = this.projection.at(z);
    return [toX(scene.view, scene.size, x), toY(scene.view, scene.size, y)];
  }

  private ring(pen: Pen, scene: Scene, corners: readonly Vector[]): void {
    corners.forEach((z, k) => {
      const [x, y] = this.screen(scene, z);
      if (k) pen.line(x, y);
      else pen.move(x, y);
    });
    if (corners.length) pen.close();
  }

  private isFront({ normal }: Face): boolean {
    return dot(normal, this.projection.toward) > 0;
  }

  /** The edges of the workspace: those behind first, those in front when all else is drawn. */
  private outline(pen: Pen, scene: Scene, front: boolean): void {
    const { solid, circles } = this.model;
    const { theme } = scene;
    pen.begin();
    if (!solid.curved) {
      for (const face of solid.faces) if (this.isFront(face) === front) this.ring(pen, scene, face.corners);
    } else if (front) {
      const seen = solid.faces.flatMap((face) => face.corners.map((z) => this.screen(scene, z)));
      hull(seen).forEach(([x, y], k) => (k ? pen.line(x, y) : pen.move(x, y)));
      pen.close();
    } else for (const circle of circles) this.ring(pen, scene, circle);
    pen.stroke(
      front ? { colour: theme.border, width: 1.3 } : { colour: theme.faint, width: 1, dash: [4, 3] },
    );
  }

  private drawSlices(pen: Pen, scene: Scene, { all }: Slices): void {
    for (const { ring, image, origin, along, up } of all) {
      const [x, y] = this.screen(scene, origin);
      const { sx, sy } = scene.view;
      const [au, av] = this.projection.along(along);
      const [uu, uv] = this.projection.along(up);
      pen.begin();
      this.ring(pen, scene, ring);
      pen.stroke({ colour: scene.theme.faint, width: 0.8 });
      const { width, height } = image;
      pen.skewed(image, [
        (au * sx) / width,
        (-av * sy) / width,
        (uu * sx) / height,
        (-uv * sy) / height,
        x,
        y,
      ]);
    }
  }

  /** The cell of the chosen agent; while time stands still, of the one that had the last event. */
  private drawCell(pen: Pen, scene: Scene): void {
    const { state, diagrams, selected, latest, theme, layers } = scene;
    const chosen = selected >= 0 && selected < state.agents;
    const agent = chosen ? selected : latest;
    if (agent < 0 || agent >= state.agents || !state.present[agent] || !(layers.cells || chosen)) return;
    const present = [...state.present.keys()].filter((p) => state.present[p]);
    const members = diagrams.find((some) => !some || some.includes(agent)) ?? present;
    const cell = cellIn(this.model.solid, state.positions, agent, members);
    const colour = chosen ? theme.select : theme.flash;
    for (const front of [false, true]) {
      pen.begin();
      for (const face of cell.faces) if (this.isFront(face) === front) this.ring(pen, scene, face.corners);
      pen.fill({ colour, alpha: front ? 0.16 : 0.1 });
      if (!cell.curved) pen.stroke({ colour, width: front ? 1.5 : 0.8, alpha: front ? 1 : 0.6 });
    }
    if (cell.curved) this.creases(pen, scene, cell, colour);
  }

  /** The flat faces of a cell in a curved workspace. */
  private creases(pen: Pen, scene: Scene, cell: Solid, colour: string): void {
    const known = new Set(this.model.solid.faces.map((face) => face.normal));
    pen.begin();
    for (const face of cell.faces) if (!known.has(face.normal)) this.ring(pen, scene, face.corners);
    pen.stroke({ colour, width: 1.2 });
  }
}

/** Where slices go through: the chosen agent, or the highest peak, or the middle. */
function focusOf({ state, selected, peaks }: Scene, density: Density, middle: Vector): Vector {
  if (selected >= 0 && selected < state.agents) return vectorAt(state.positions, selected);
  let [best, most] = [middle, -Infinity];
  for (const { center } of peaks) {
    if (!center || center.length !== 3) continue;
    const value = density(center);
    if (value > most) [best, most] = [vectorAt(center, 0), value];
  }
  return best;
}

/** What the scale of the density needs. */
const scaleOf = ({ all, most, least }: Slices, { frame }: Scene): Scene["heat"] =>
  all.length ? { image: all[0].image, bounds: frame, most, least, contours: new Float64Array() } : null;
