import { describe, expect, test } from "vitest";
import { cellIn, cornersOf, cut, sectionOf, type Solid } from "../src/space/solid";
import { boxOf, solidOf } from "../src/space/workspaces";
import { cross, dot, length, minus, type Vector } from "../src/space/vector";
import { read } from "./recorded";

interface Case {
  readonly workspace: Record<string, unknown>;
  readonly positions: number[][];
  readonly volumes: number[];
  readonly vertices: Vector[][];
}

const { cases } = read<{ cases: Case[] }>("spaces");

function volumeOf(solid: Solid): number {
  const origin = solid.faces[0]?.corners[0];
  let six = 0;
  for (const { corners } of solid.faces)
    for (let k = 1; k + 1 < corners.length; k++)
      six += dot(
        minus(corners[0], origin),
        cross(minus(corners[k], corners[0]), minus(corners[k + 1], corners[0])),
      );
  return six / 6;
}

/** How far the farthest of some points is from the nearest of others. */
const apart = (some: readonly Vector[], others: readonly Vector[]): number =>
  Math.max(...some.map((a) => Math.min(...others.map((b) => length(minus(a, b))))));

describe("cells in space are those of Python", () => {
  test.each(cases.map((one, k) => [k, one] as const))(
    "case %i",
    (_, { workspace, positions, volumes, vertices }) => {
      const solid = solidOf(workspace);
      const places = Float64Array.from(positions.flat());
      const size = Math.max(1, ...positions.flat().map(Math.abs));
      positions.forEach((__, p) => {
        const cell = cellIn(solid, places, p, positions.keys());
        expect(Math.abs(volumeOf(cell) - volumes[p])).toBeLessThan(1e-12 * size);
        expect(apart(cornersOf(cell), vertices[p])).toBeLessThan(1e-12 * size);
        expect(apart(vertices[p], cornersOf(cell))).toBeLessThan(1e-12 * size);
      });
    },
  );
});

describe("solids", () => {
  const unit = boxOf([0, 0, 0], [1, 1, 1]);

  test("a cut through corners, along a face, and past the solid", () => {
    expect(volumeOf(cut(unit, [1, 1, 0], 1))).toBeCloseTo(0.5, 14);
    expect(cut(unit, [1, 0, 0], 1)).toBe(unit);
    expect(cut(unit, [1, 0, 0], -0.1).faces).toEqual([]);
    expect(volumeOf(cut(unit, [1, 1, 1], 1))).toBeCloseTo(1 / 6, 14);
  });

  test("a section is the ring of a plane", () => {
    expect(sectionOf(unit, [0, 0, 1], 0.25)).toHaveLength(4);
    expect(sectionOf(unit, [1, 1, 1], 1.5)).toHaveLength(6);
    expect(sectionOf(unit, [0, 0, 1], 2)).toEqual([]);
  });

  test("a ball is drawn with a volume a little below its own, and can be cut", () => {
    const ball = solidOf({ kind: "ball", center: [1, 2, 3], radius: 2 });
    const whole = (4 / 3) * Math.PI * 8;
    expect(volumeOf(ball)).toBeGreaterThan(0.98 * whole);
    expect(volumeOf(ball)).toBeLessThan(whole);
    expect(volumeOf(cut(ball, [0, 0, 1], 3))).toBeCloseTo(volumeOf(ball) / 2, 10);
  });

  test("the hull of a cube with points inside and on its faces", () => {
    const points: Vector[] = [];
    for (const x of [0, 0.5, 1])
      for (const y of [0, 0.5, 1]) for (const z of [0, 0.5, 1]) points.push([x, y, z]);
    const hull = solidOf({ kind: "polytope", vertices: points });
    expect(hull.faces).toHaveLength(6);
    expect(volumeOf(hull)).toBeCloseTo(1, 14);
  });
});
