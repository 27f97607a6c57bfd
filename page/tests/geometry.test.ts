import { describe, expect, test } from "vitest";
import { borders, cellOf, cellsAmong, cellsOf, intervalOf } from "../src/geometry/cells";
import {
  area,
  contains,
  hull,
  isConvex,
  moveCorner,
  nearestInside,
  splitSide,
  type Point,
} from "../src/geometry/polygon";
import { clearOf, placeIn, regionOf } from "../src/geometry/workspace";
import { read } from "./recorded";

interface Case {
  readonly ring: Point[];
  readonly positions: number[][];
  readonly areas: number[];
}

const ringOf = (corners: ArrayLike<number>, from: number, to: number): Point[] =>
  Array.from({ length: to - from }, (_, k) => [corners[2 * (from + k)], corners[2 * (from + k) + 1]]);

describe("cells", () => {
  for (const { ring, positions, areas } of read<{ cases: Case[] }>("cells").cases)
    test(`of ${positions.length} agents at ${ring[0][0]} have the areas that Python finds`, () => {
      const flat = Float64Array.from(positions.flat());
      const cells = cellsOf(ring, flat);
      const size = Math.max(...areas);
      positions.forEach((place, p) => {
        const cell = ringOf(cells.corners, cells.begin[p], cells.begin[p + 1]);
        expect(Math.abs(area(cell) - areas[p]) / size).toBeLessThan(1e-8);
        const alone = cellOf(ring, flat, p);
        expect(Math.abs(area(ringOf(alone, 0, alone.length / 2)) - areas[p]) / size).toBeLessThan(1e-8);
        expect(contains(cell, place as unknown as Point)).toBe(true);
      });
    });

  test("tile the workspace when agents stand on a line or a lattice", () => {
    const square: Point[] = [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
    ];
    const line = Float64Array.from({ length: 40 }, (_, k) => (k % 2 ? 5 : k / 4));
    const lattice = Float64Array.from({ length: 50 }, (_, k) =>
      k % 2 ? Math.floor(k / 10) * 2 + 1 : ((k / 2) % 5) * 2 + 1,
    );
    for (const places of [line, lattice]) {
      const cells = cellsOf(square, places);
      let sum = 0;
      for (let p = 0; 2 * p < places.length; p++)
        sum += area(ringOf(cells.corners, cells.begin[p], cells.begin[p + 1]));
      expect(sum).toBeCloseTo(100, 9);
    }
  });

  test("have as many corners as there are neighbours", () => {
    const square: Point[] = [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ];
    const round = Array.from({ length: 1500 }, (_, k) => [
      0.9 * Math.cos((2 * Math.PI * k) / 1500),
      0.9 * Math.sin((2 * Math.PI * k) / 1500),
    ]);
    const cells = cellsOf(square, Float64Array.from([0, 0, ...round.flat()]));
    expect(cells.begin[1]).toBe(1500);
    expect(area(ringOf(cells.corners, 0, 1500))).toBeCloseTo(Math.PI * 0.45 ** 2, 5);
  });

  test("on a line end in the middle between neighbours", () => {
    expect([...borders([0, 10], Float64Array.of(4, 1, 7))]).toEqual([0, 2.5, 5.5, 10]);
  });
});

interface Ranged extends Case {
  readonly radii: number[];
}

interface Line {
  readonly bounds: [number, number];
  readonly positions: number[];
  readonly radii: number[];
  readonly lengths: number[];
}

describe("cells of agents with sensing radii", () => {
  const { ranges, line } = read<{ ranges: Ranged[]; line: Line }>("cells");
  for (const { ring, positions, radii, areas } of ranges)
    test(`from ${Math.min(...radii).toFixed(1)} to ${Math.max(...radii).toFixed(1)}, ${positions.length} at ${ring[0][0]}, have the areas that Python finds`, () => {
      const flat = Float64Array.from(positions.flat());
      const range = { radii: Float64Array.from(radii), scale: 1e9 };
      const cells = cellsOf(ring, flat, range);
      const size = Math.max(...areas);
      positions.forEach(([x, y], p) => {
        const alone = cellOf(ring, flat, p, range);
        for (const cell of [
          ringOf(cells.corners, cells.begin[p], cells.begin[p + 1]),
          ringOf(alone, 0, alone.length / 2),
        ]) {
          expect(Math.abs((cell.length ? area(cell) : 0) - areas[p]) / size).toBeLessThan(1e-6);
          expect(Math.max(0, ...cell.map((z) => Math.hypot(z[0] - x, z[1] - y)))).toBeLessThan(
            radii[p] * (1 + 1e-8),
          );
        }
      });
    });

  const square: Point[] = [
    [0, 0],
    [4, 0],
    [4, 4],
    [0, 4],
  ];
  const cell = (radius: number, ...at: number[]): Point[] => {
    const found = cellOf(square, Float64Array.from(at), 0, {
      radii: new Float64Array(at.length / 2).fill(radius),
      scale: 1e9,
    });
    return ringOf(found, 0, found.length / 2);
  };

  test("are whole discs, parts of them, or end at the workspace", () => {
    expect(area(cell(1, 2, 2))).toBeCloseTo(Math.PI, 5);
    expect(area(cell(1, 0, 0))).toBeCloseTo(Math.PI / 4, 5);
    expect(area(cell(2, 2, 2))).toBeCloseTo(4 * Math.PI, 4);
    expect(cell(Math.SQRT2 * 2, 2, 2)).toEqual(cell(9, 2, 2));
    expect(area(cell(1, 2, 2, 2, 3))).toBeCloseTo((2 * Math.PI) / 3 + Math.sqrt(3) / 4, 5);
  });

  test("are empty within the disc of another, and may lie beside their agent", () => {
    const flat = Float64Array.of(1, 2, 1.5, 2, 3, 2);
    const { begin, corners } = cellsAmong(square, flat, Int32Array.of(0, 1), {
      radii: Float64Array.of(1, 0.2, 9),
      scale: 100,
    });
    expect(begin[2]).toBe(begin[1]);
    expect(begin[3]).toBe(begin[2]);
    const beside = cellOf(square, flat, 1, { radii: Float64Array.of(1, 0.65, 0.1), scale: 100 });
    expect(beside.length).toBeGreaterThan(6);
    expect(Math.min(...beside.filter((_, k) => k % 2 === 0))).toBeGreaterThan(1.5);
    expect(corners.slice(0, 2 * begin[1]).length).toBeGreaterThan(48);
  });

  test("have finer arcs where they are drawn larger", () => {
    const corners = (scale: number): number =>
      cellOf(square, Float64Array.of(2, 2), 0, { radii: Float64Array.of(1), scale }).length / 2;
    expect(
      [corners(0.1), corners(100), corners(1e12)].map(
        (n, k) => n > [23, 60, 6000][k] && n < [25, 200, 7000][k],
      ),
    ).toEqual([true, true, true]);
  });

  test("on a line end where their agents cease to sense", () => {
    const { bounds, positions, radii, lengths } = line;
    const found = positions.map((_, p) =>
      intervalOf(bounds, Float64Array.from(positions), p, Float64Array.from(radii)),
    );
    found.forEach(([a, b], p) => expect(b - a).toBeCloseTo(lengths[p], 12));
    expect(found[3]).toEqual([7.2, 7.2]);
    expect(intervalOf(bounds, Float64Array.of(4, 1, 7), 0)).toEqual([2.5, 5.5]);
  });
});

describe("edited polygons", () => {
  const square: Point[] = [
    [0, 0],
    [4, 0],
    [4, 4],
    [0, 4],
  ];

  test("stay convex: a corner is stopped", () => {
    expect(moveCorner(square, 0, [-1, -1])).toEqual({
      ring: [
        [-1, -1],
        [4, 0],
        [4, 4],
        [0, 4],
      ],
      whole: true,
    });
    const stopped = moveCorner(square, 0, [3, 3]);
    expect(stopped.whole).toBe(false);
    expect(isConvex(stopped.ring)).toBe(true);
    expect(stopped.ring[0][0]).toBeGreaterThan(1.9);
    expect(stopped.ring[0][0]).toBeLessThan(2);
  });

  test("get a corner on a side, and are still convex", () => {
    for (let side = 0; side < 4; side++) {
      const more = splitSide(square, side);
      expect(more.length).toBe(5);
      expect(isConvex(more)).toBe(true);
    }
  });

  test("are recognised", () => {
    expect(
      isConvex([
        [0, 0],
        [1, 1],
        [2, 2],
      ]),
    ).toBe(false);
    expect(isConvex([...square].reverse())).toBe(false);
    const star = [0, 2, 4, 1, 3].map((k): Point => [
      Math.cos((2 * Math.PI * k) / 5),
      Math.sin((2 * Math.PI * k) / 5),
    ]);
    expect(isConvex(star)).toBe(false); // turns left everywhere, but goes round twice
  });

  test("hold points and hulls", () => {
    expect(
      hull([
        [0, 0],
        [4, 0],
        [2, 1],
        [4, 4],
        [0, 4],
      ]),
    ).toEqual(square);
    expect(nearestInside(square, [6, 2])).toEqual([4, 2]);
    expect(nearestInside(square, [1, 2])).toEqual([1, 2]);
  });
});

describe("regions", () => {
  test("of every kind in the plane are rings", () => {
    const tables = [
      { kind: "box", lower: [0, 0], upper: [2, 1] },
      {
        kind: "polygon",
        vertices: [
          [0, 0],
          [0, 1],
          [2, 1],
          [2, 0],
        ],
      },
      {
        kind: "polytope",
        vertices: [
          [0, 0],
          [2, 1],
          [2, 0],
          [0, 1],
          [1, 0.5],
        ],
      },
      {
        kind: "polytope",
        halfspaces: [
          [1, 0, 2],
          [-1, 0, 0],
          [0, 1, 1],
          [0, -1, 0],
        ],
      },
    ];
    for (const table of tables) expect(area(regionOf(table).ring)).toBeCloseTo(2, 12);
    expect(area(regionOf({ kind: "ball", center: [3, 3], radius: 2 }).ring)).toBeCloseTo(4 * Math.PI, 1);
  });

  test("take a place in, near to where it was", () => {
    const region = regionOf({
      kind: "polygon",
      vertices: [
        [0, 0],
        [4, 0],
        [0, 4],
      ],
    });
    expect(placeIn(region, [1, 1])).toEqual([1, 1]);
    const [x, y] = placeIn(region, [3, 3]);
    expect(contains(region.ring, [x, y])).toBe(true);
    expect(Math.hypot(x - 2, y - 2)).toBeLessThan(0.01);
    expect(placeIn(regionOf({ kind: "interval", bounds: [1, 4] }), [9])).toEqual([4]);
  });

  test("have room for one more near the middle", () => {
    for (const table of [
      { kind: "box", lower: [0, 0], upper: [0.02, 0.01] },
      { kind: "interval", bounds: [-1, 1] },
    ]) {
      const region = regionOf(table);
      const found: number[][] = [];
      for (let k = 0; k < 12; k++) found.push(clearOf(found, region));
      const apart = found.flatMap((a, i) =>
        found.slice(i + 1).map((b) => Math.hypot(...a.map((v, j) => v - b[j]))),
      );
      expect(Math.min(...apart)).toBeGreaterThan(0.0399 * (region.bounds ? 2 : 0.02));
      for (const z of found) expect(placeIn(region, z)).toEqual(z);
    }
  });

  test("of other dimensions say so", () => {
    expect(
      regionOf({
        kind: "polytope",
        halfspaces: [
          [1, 4],
          [-2, 2],
        ],
      }).bounds,
    ).toEqual([-1, 4]);
    expect(regionOf({ kind: "interval", bounds: [1, 4] }).bounds).toEqual([1, 4]);
    expect(regionOf({ kind: "box", lower: [0, 0, 0], upper: [1, 1, 1] })).toMatchObject({
      dimension: 3,
      ring: [],
    });
  });
});
