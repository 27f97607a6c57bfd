/** Convex solids: workspaces of three dimensions and cells in them, as faces that half-spaces cut. */

import { between, cross, dot, length, meanOf, minus, vectorAt, type Vector } from "./vector";

/** One face: a plane normal that points outward, and its corners, counter-clockwise from outside. */
export interface Face {
  readonly normal: Vector;
  readonly corners: readonly Vector[];
}

export interface Solid {
  readonly faces: readonly Face[];
  /** Whether the faces stand for a curved surface, whose edges are not drawn. */
  readonly curved: boolean;
}

const FLAT = 1e-12; // share of the size by which a corner may lie beyond a plane

/** How large a solid is: the longest side of its box. */
export function sizeOf(solid: Solid): number {
  const corners = solid.faces.flatMap((face) => face.corners);
  const sides = [0, 1, 2].map((i) => {
    const values = corners.map((z) => z[i]);
    return Math.max(...values) - Math.min(...values);
  });
  return corners.length ? Math.max(...sides) : 0;
}

/** The part of a solid where normal · z <= offset; what is cut open is closed by a face. */
export function cut(solid: Solid, normal: Vector, offset: number): Solid {
  const slack = FLAT * length(normal) * sizeOf(solid);
  const beyond = (z: Vector): number => {
    const far = dot(normal, z) - offset;
    return Math.abs(far) <= slack ? 0 : far;
  };
  const section: Vector[] = [];
  const faces: Face[] = [];
  let touched = false;
  for (const face of solid.faces) {
    const far = face.corners.map(beyond);
    if (far.every((d) => d <= 0)) {
      faces.push(face);
      continue;
    }
    touched = true;
    const kept = clipped(face.corners, far, section);
    if (kept.length > 2) faces.push({ normal: face.normal, corners: kept });
  }
  if (!touched) return solid;
  const closing = around(distinct(section, slack / length(normal)), normal);
  if (faces.length && closing.length > 2) faces.push({ normal, corners: closing });
  return { faces: faces.length > 3 ? faces : [], curved: solid.curved };
}

/** The corners of a face that stay, by Sutherland and Hodgman; those on the cut are added to the section. */
function clipped(corners: readonly Vector[], far: readonly number[], section: Vector[]): Vector[] {
  const kept: Vector[] = [];
  corners.forEach((z, k) => {
    const next = (k + 1) % corners.length;
    if (far[k] <= 0) kept.push(z);
    if (far[k] === 0) section.push(z);
    if (far[k] < 0 !== far[next] < 0 && far[k] !== 0 && far[next] !== 0) {
      const crossing =
        far[k] < 0
          ? between(z, corners[next], far[k] / (far[k] - far[next]))
          : between(corners[next], z, far[next] / (far[next] - far[k])); // the same from both faces
      kept.push(crossing);
      section.push(crossing);
    }
  });
  return kept;
}

function distinct(points: readonly Vector[], near: number): Vector[] {
  const found: Vector[] = [];
  for (const z of points) if (!found.some((other) => length(minus(other, z)) <= 2 * near)) found.push(z);
  return found;
}

/** Points of a plane in their order around its normal. */
export function around(points: readonly Vector[], normal: Vector): Vector[] {
  if (points.length < 3) return [];
  const middle = meanOf(points);
  const first = minus(points[0], middle);
  const second = cross(normal, first);
  const angle = (z: Vector): number =>
    Math.atan2(dot(minus(z, middle), second) / length(normal), dot(minus(z, middle), first));
  return points
    .map((z) => [angle(z), z] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([, z]) => z);
}

/** The cell of an agent: what is nearer to it than to any of the others. */
export function cellIn(
  solid: Solid,
  positions: ArrayLike<number>,
  agent: number,
  others: Iterable<number>,
): Solid {
  const own = vectorAt(positions, agent);
  const byDistance = [...others]
    .filter((p) => p !== agent)
    .map((p) => [length(minus(vectorAt(positions, p), own)), p] as const)
    .sort((a, b) => a[0] - b[0]);
  let cell = moved(solid, own); // around the agent, where rounding is least
  for (const [far, p] of byDistance) {
    const to = minus(vectorAt(positions, p), own);
    if (!(far > 0)) continue;
    if (far / 2 > reachOf(cell)) break; // no other is near enough to cut it
    cell = cut(cell, to, dot(to, to) / 2);
  }
  return moved(cell, [-own[0], -own[1], -own[2]]);
}

const reachOf = (solid: Solid): number =>
  Math.max(0, ...solid.faces.flatMap((face) => face.corners.map(length)));

const moved = (solid: Solid, origin: Vector): Solid => ({
  ...solid,
  faces: solid.faces.map(({ normal, corners }) => ({
    normal,
    corners: corners.map((z) => minus(z, origin)),
  })),
});

/** The corners of a solid, each once. */
export const cornersOf = (solid: Solid): Vector[] =>
  distinct(
    solid.faces.flatMap((face) => face.corners),
    FLAT * sizeOf(solid),
  );

/** Where a plane normal · z = offset meets a solid, as a ring; empty if it does not. */
export function sectionOf(solid: Solid, normal: Vector, offset: number): Vector[] {
  const section: Vector[] = [];
  for (const { corners } of solid.faces)
    clipped(
      corners,
      corners.map((z) => dot(normal, z) - offset),
      section,
    );
  return around(distinct(section, FLAT * sizeOf(solid)), normal);
}
