/** The solids of workspaces: boxes, polytopes, balls and ellipsoids of three dimensions. */

import { around, cut, type Face, type Solid } from "./solid";
import { cross, dot, length, minus, type Vector } from "./vector";

type Table = Readonly<Record<string, unknown>>;

const ROUND = 32; // faces along a half circle of a ball
const FLAT = 1e-9; // share of the size by which corners of one face may lie beside its plane

/** The solid of a `workspace` table of three dimensions. */
export function solidOf(table: Table): Solid {
  const lower = table["lower"] as Vector | undefined;
  const upper = table["upper"] as Vector | undefined;
  const center = table["center"] as Vector | undefined;
  const corners = table["vertices"] as Vector[] | undefined;
  if (lower && upper) return boxOf(lower, upper);
  if (center) return rounded(table, center);
  return corners ? hullOf(corners) : betweenPlanes((table["halfspaces"] as number[][] | undefined) ?? []);
}

export function boxOf(lower: Vector, upper: Vector): Solid {
  const faces: Face[] = [];
  for (const i of [0, 1, 2])
    for (const end of [0, 1]) {
      const [j, k] = end ? [(i + 1) % 3, (i + 2) % 3] : [(i + 2) % 3, (i + 1) % 3];
      const corner = (a: number, b: number): Vector => {
        const z: [number, number, number] = [0, 0, 0];
        z[i] = end ? upper[i] : lower[i];
        z[j] = a ? upper[j] : lower[j];
        z[k] = b ? upper[k] : lower[k];
        return z;
      };
      const normal: [number, number, number] = [0, 0, 0];
      normal[i] = end ? 1 : -1;
      faces.push({ normal, corners: [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)] });
    }
  return { faces, curved: false };
}

/** The convex hull of some points: every plane through three of them that has all on one side. */
export function hullOf(points: readonly Vector[]): Solid {
  const size = Math.max(...[0, 1, 2].map((i) => spread(points.map((z) => z[i]))));
  const faces: Face[] = [];
  for (let a = 0; a < points.length; a++)
    for (let b = a + 1; b < points.length; b++)
      for (let c = b + 1; c < points.length; c++) {
        const face = faceThrough(points, a, b, c, FLAT * size);
        if (face && !faces.some((one) => dot(one.normal, face.normal) > 1 - FLAT)) faces.push(face);
      }
  return { faces, curved: false };
}

const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

function faceThrough(points: readonly Vector[], a: number, b: number, c: number, near: number): Face | null {
  const raw = cross(minus(points[b], points[a]), minus(points[c], points[a]));
  const long = length(raw);
  if (!(long > near * near)) return null;
  let above = false;
  let below = false;
  for (const z of points) {
    const far = dot(raw, minus(z, points[a])) / long;
    above ||= far > near;
    below ||= far < -near;
    if (above && below) return null;
  }
  const sign = above ? -1 / long : 1 / long;
  const normal: Vector = [sign * raw[0], sign * raw[1], sign * raw[2]];
  const own = points.filter((z) => Math.abs(dot(normal, minus(z, points[a]))) <= near);
  return { normal, corners: convex(around(own, normal), normal, near) };
}

/** A ring about its middle without the points that are no corners of it. */
function convex(ring: Vector[], normal: Vector, near: number): Vector[] {
  const turns = (k: number): number => {
    const [before, here, after] = [-1, 0, 1].map((by) => ring[(k + by + ring.length) % ring.length]);
    return dot(normal, cross(minus(here, before), minus(after, here)));
  };
  for (let k = ring.findIndex((_, i) => turns(i) <= near * near); k >= 0;) {
    ring.splice(k, 1);
    k = ring.findIndex((_, i) => turns(i) <= near * near);
  }
  return ring;
}

/** What half-spaces [a, b, c, d], a x + b y + c z <= d, share. */
function betweenPlanes(rows: readonly (readonly number[])[]): Solid {
  const far = 1e3 * Math.max(1, ...rows.map((row) => Math.abs(row[3]) / Math.hypot(row[0], row[1], row[2])));
  let solid = boxOf([-far, -far, -far], [far, far, far]);
  for (const [a, b, c, d] of rows) solid = cut(solid, [a, b, c], d);
  return solid;
}

/** A ball or an ellipsoid, with as many faces as the eye needs. */
function rounded(table: Table, center: Vector): Solid {
  const radius = (table["radius"] as number | undefined) ?? 1;
  const semi = (table["semi_axes"] as Vector | undefined) ?? [radius, radius, radius];
  const own = (table["axes"] as readonly Vector[] | undefined) ?? [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  const at = (i: number, j: number): Vector => {
    const [polar, turn] = [(Math.PI * i) / ROUND, (Math.PI * j) / ROUND];
    const unit = [Math.sin(polar) * Math.cos(turn), Math.sin(polar) * Math.sin(turn), Math.cos(polar)];
    const z = (k: number): number =>
      center[k] + unit.reduce((sum, u, axis) => sum + u * semi[axis] * own[axis][k], 0);
    return [z(0), z(1), z(2)];
  };
  const faces: Face[] = [];
  for (let i = 0; i < ROUND; i++)
    for (let j = 0; j < 2 * ROUND; j++) {
      const corners = [
        at(i, j),
        at(i + 1, j),
        at(i + 1, (j + 1) % (2 * ROUND)),
        at(i, (j + 1) % (2 * ROUND)),
      ];
      const ring = corners.filter((_, k) => (i > 0 || k !== 3) && (i < ROUND - 1 || k !== 2));
      const raw = cross(minus(ring[1], ring[0]), minus(ring[2], ring[0]));
      const out = dot(raw, minus(ring[0], center)) > 0;
      const sign = (out ? 1 : -1) / length(raw);
      faces.push({
        normal: [sign * raw[0], sign * raw[1], sign * raw[2]],
        corners: out ? ring : ring.reverse(),
      });
    }
  return { faces, curved: true };
}
