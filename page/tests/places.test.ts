/** Regions that are not convex, outlines in GeoJSON, and densities on grids. */

import { describe, expect, test, vi } from "vitest";
import { asSentences, refusalOf } from "../src/panels/files";
import { differWithin } from "../src/panels/map/painting";
import { labelled } from "../src/map/ticks";
import { densityOf, withPeaks } from "../src/density/density";
import { paintable, rasterOfPicture, Stroke, type RasterTable } from "../src/density/raster";
import { geoJsonIn, mayBeDegrees, partsIn } from "../src/geometry/geojson";
import { area, type Point, type Ring } from "../src/geometry/polygon";
import {
  covers,
  inRing,
  nextCorners,
  ringsOf,
  withCornerAt,
  withoutCorner,
  withoutRing,
  withRingAdded,
  withSideSplit,
  workspaceOf,
  type Part,
} from "../src/geometry/rings";
import { clearOf, cornersOf, placeIn, regionOf } from "../src/geometry/workspace";
import { SvgPen } from "../src/map/svg_pen";
import type { Scenario } from "../src/net/api";
import { lawAt, withSite } from "../src/state/site";

// Modules of the page ask for the colours of the system as they are loaded.
vi.hoisted(() => vi.stubGlobal("matchMedia", () => ({ matches: false })));

const square = (x: number, y: number, side: number): Point[] => [
  [x, y],
  [x + side, y],
  [x + side, y + side],
  [x, y + side],
];
const bay: Point[] = [
  [0, 0],
  [30, 0],
  [30, 30],
  [20, 30],
  [20, 10],
  [10, 10],
  [10, 30],
  [0, 30],
]; // a U
const lake: Part[] = [
  { outer: square(0, 0, 10), holes: [square(4, 4, 2)] },
  { outer: square(20, 0, 3), holes: [] },
];

test("files that are no scenario are refused by name", () => {
  expect(refusalOf("a.toml", "[run]\nhorizon = 1")).toBe("");
  expect(refusalOf("scenario", "[run]\nhorizon = 1")).toBe("");
  expect(refusalOf("a.json", '{"run": {}}')).toBe("");
  expect(refusalOf("a.json", "{ not json")).toBe(""); // the server says where it goes wrong
  expect(refusalOf("a.toml", "\n \n")).toContain("a.toml is empty");
  expect(refusalOf("a.json", "[1, 2]")).toContain("a.json holds no table");
  expect(refusalOf("a.json", "5")).toContain("a.json holds no table");
  for (const [name, text] of [
    ["page.html", "<p>"],
    ["table.csv", "a,b"],
    ["film.mp4", "ftyp"],
    ["a.toml", "a\0b"],
  ])
    expect(refusalOf(name, text)).toBe(
      `${name} cannot be opened; the page opens scenarios (TOML, JSON), outlines (GeoJSON) and pictures (PNG, JPEG).`,
    );
});

describe("regions that are not convex", () => {
  test("have the hull as their polygon, and say what they cover", () => {
    const region = regionOf({
      kind: "region",
      parts: [{ outer: bay, holes: [square(2, 2, 3)] }],
      stay: false,
    });
    expect(region.dimension).toBe(2);
    expect(region.ring).toEqual([
      [0, 0],
      [30, 0],
      [30, 30],
      [0, 30],
    ]);
    expect(cornersOf(region)).toHaveLength(12);
    const at = (x: number, y: number): boolean => covers(region.parts ?? [], [x, y]);
    expect([at(5, 20), at(15, 20), at(15, 5), at(3, 3), at(31, 5)]).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });

  test("are covered in proportion to their area", () => {
    const inside = Array.from({ length: 90 * 90 }, (_, k): Point => [
      (k % 90) / 3 + 1 / 6,
      Math.floor(k / 90) / 3 + 1 / 6,
    ]).filter((z) => inRing(bay, z));
    expect(inside.length / 9).toBeCloseTo(area(bay), 9);
  });

  test("count parts of which a table leaves out the holes", () => {
    expect(regionOf({ kind: "region", parts: [{ outer: bay }] }).parts).toEqual([{ outer: bay, holes: [] }]);
  });

  test("place new things in the region, and keep agents in the hull", () => {
    const ring: Point[] = square(-1, -1, 12);
    const region = regionOf({ kind: "region", parts: [{ outer: ring, holes: [square(3, 3, 4)] }] });
    expect(covers(region.parts ?? [], clearOf([], region) as unknown as Point)).toBe(true);
    expect(placeIn(region, [5, 5])).toEqual([5, 5]); // in the hole, where an agent may be
    expect(placeIn(region, [50, 5])[0]).toBeLessThan(11);
  });

  test("too many corners are not moved one by one", () => {
    const ring = Array.from({ length: 500 }, (_, k): Point => [
      Math.cos(k / 80),
      (1 + (k % 2)) * Math.sin(k / 80),
    ]);
    expect(regionOf({ kind: "region", parts: [{ outer: ring, holes: [] }] }).editable).toBe(false);
  });
});

describe("rings", () => {
  test("are numbered one after another", () => {
    expect(nextCorners(ringsOf(lake))).toEqual([1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8]);
  });

  test("have their corners moved, added and removed, each in its ring", () => {
    expect(withCornerAt(lake, 5, [7, 4])[0].holes[0][1]).toEqual([7, 4]);
    expect(withSideSplit(lake, 7)[0].holes[0]).toEqual([...square(4, 4, 2), [4, 5]]);
    expect(withoutCorner(lake, 8)[1].outer).toHaveLength(3);
    expect(withoutCorner(withoutCorner(lake, 4), 4)[0].holes).toEqual([]); // two corners are no ring
    expect(withoutRing(lake, 6)).toEqual([{ ...lake[0], holes: [] }, lake[1]]);
    expect(withoutRing(lake, 1)).toEqual([lake[1]]); // the hole goes with what it is in
  });

  test("are holes inside, parts outside, and parts again inside holes", () => {
    const inner = square(1, 1, 1);
    expect(withRingAdded(lake, inner)[0].holes).toEqual([lake[0].holes[0], inner]);
    expect(withRingAdded(lake, square(30, 0, 1))).toHaveLength(3);
    expect(withRingAdded(lake, square(4.5, 4.5, 0.5))).toHaveLength(3);
  });

  test("of one convex part make a polygon, others a region", () => {
    expect(workspaceOf([{ outer: [...square(0, 0, 2)].reverse(), holes: [] }])).toEqual({
      kind: "polygon",
      vertices: expect.anything() as unknown,
    });
    expect(workspaceOf([{ outer: bay, holes: [] }]).kind).toBe("region");
    expect(workspaceOf(lake, true)["stay"]).toBe(true);
  });
});

describe("GeoJSON", () => {
  const closed = (ring: Ring): Point[] => [...ring, ring[0]];
  const polygon = (part: Part): Record<string, unknown> => ({
    type: "Polygon",
    coordinates: [part.outer, ...part.holes].map(closed),
  });
  const feature = (geometry: unknown): Record<string, unknown> => ({
    type: "Feature",
    properties: {},
    geometry,
  });

  test("gives the parts and holes of all its polygons", () => {
    const multi = { type: "MultiPolygon", coordinates: lake.map((part) => polygon(part)["coordinates"]) };
    expect(partsIn(multi)).toEqual(lake);
    const line = feature({
      type: "LineString",
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    });
    const all = {
      type: "FeatureCollection",
      features: [feature(polygon(lake[0])), line, feature(null), feature(polygon(lake[1]))],
    };
    expect(partsIn(all)).toEqual(lake);
    expect(partsIn({ type: "GeometryCollection", geometries: lake.map(polygon) })).toEqual(lake);
  });

  test("is told from scenarios and from other text", () => {
    expect(geoJsonIn(JSON.stringify(feature(null)))).not.toBeNull();
    expect(geoJsonIn('{"workspace": {"kind": "box"}}')).toBeNull();
    expect(geoJsonIn("{ broken")).toBeNull();
    expect(geoJsonIn('name = "paper"')).toBeNull();
  });

  test("with broken positions is refused", () => {
    expect(() =>
      partsIn({
        type: "Polygon",
        coordinates: [
          [
            [0, 0],
            [1, "a"],
            [1, 1],
          ],
        ],
      }),
    ).toThrow("pair of numbers");
    expect(() =>
      partsIn({
        type: "Polygon",
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [0, 0],
          ],
        ],
      }),
    ).toThrow("ring of 2 points");
    expect(() => partsIn({ type: "Polygon" })).toThrow("ring of 0 points");
  });

  test("may be in degrees unless it cannot be", () => {
    expect(mayBeDegrees([square(8, 53, 1)])).toBe(true);
    expect(mayBeDegrees([square(8, 53, 1), square(500_000, 80, 1)])).toBe(false);
    expect(mayBeDegrees([square(8, 90, 1)])).toBe(false);
  });
});

describe("another place", () => {
  const before = {
    workspace: { kind: "box", lower: [0, 0], upper: [10, 6] },
    density: { kind: "gaussian", center: [1, 1], rate: 1 },
    agents: {
      start: [
        [1, 1],
        [2, 2],
      ],
      radius: [1, 2],
    },
    world: [{ from: 3, arrive: [[1, 2]] }],
    controller: {
      kind: "timer",
      k1: 0.5,
      nu: 0.1,
      t1: 0.2,
      t2: 0.6,
      initial_hold: [
        [0, 0],
        [0, 0],
      ],
    },
    certificate: { eta_max: 1, lipschitz: 1 },
    run: { horizon: 20, seed: 4 },
  } as unknown as Scenario;

  test("keeps team and law in proportion, and nothing that has a place", () => {
    const { scenario, by } = withSite(
      before,
      { kind: "polygon", vertices: square(1000, 0, 5000) },
      "harbour",
    );
    expect(by).toEqual({ length: 500, time: 250 }); // a largest speed of 1 m/s
    expect(scenario.agents).toEqual({
      start: { count: 3, region: "workspace", seed: 1 },
      radius: [500, 1000],
    });
    expect(scenario.controller).toEqual({ kind: "timer", k1: 1, nu: 50, t1: 50, t2: 150 });
    expect(scenario.density).toEqual({ kind: "uniform" });
    expect([scenario.world, scenario.certificate, scenario.name]).toEqual([undefined, undefined, "harbour"]);
    expect(scenario.run).toEqual({
      ...before.run,
      horizon: 250 * before.run.horizon,
      integration: { kind: "exact" },
    });
    expect(scenario.site).toBeUndefined();
    expect(withSite(before, scenario.workspace, "bay", { file: "bay.geojson" }).scenario.site).toEqual({
      file: "bay.geojson",
    });
  });
});

test("every length, speed and time of a law fits another place", () => {
  const by = { length: 1000, time: 100 };
  const centroid = {
    kind: "self-triggered-centroid",
    v_max: 1,
    dt: 0.025,
    epsilon: 0.1,
    decision: "one-step",
  };
  expect(lawAt(centroid, by)).toEqual({ ...centroid, v_max: 10, dt: 2.5, epsilon: 100 });
  const event = { kind: "event-triggered", s_max: 1, k_v: 2, d_stop: 0.01, d_start: 0.02, levels: [0, 1] };
  expect(lawAt(event, by)).toEqual({ ...event, s_max: 10, k_v: 0.02, d_stop: 10, d_start: 20 });
  const triggered = { kind: "self-triggered", v: 0.35, delta: 3, tau_min: 0.01, scan: 0.01 };
  expect(lawAt(triggered, by)).toEqual({ ...triggered, v: 3.5, delta: 3000, tau_min: 1, scan: 1 });
  const sequence = { kind: "timer", epsilon: 1e-8, intervals: [[0.1, 0.2], [0.3]] };
  expect(lawAt(sequence, by)).toEqual({ ...sequence, intervals: [[10, 20], [30]] });
});

test("a stroke outside of the workspace changes nothing in it", () => {
  const triangle = regionOf({
    kind: "polygon",
    vertices: [
      [0, 0],
      [10, 0],
      [0, 10],
    ],
  });
  const base = paintable(undefined, null, { left: 0, right: 10, bottom: 0, top: 10 });
  const brush = { size: 0.1, strength: 0.5, erase: false };
  const painted = (...z: [number, number]) => new Stroke(base, 1, brush).to(z);
  expect(differWithin(triangle, base, painted(30, 30))).toBe(false);
  expect(differWithin(triangle, base, painted(9, 9))).toBe(false); // in its box alone
  expect(differWithin(triangle, base, painted(2, 2))).toBe(true);
  expect(differWithin(triangle, base, new Stroke(base, 1, { ...brush, strength: 0 }).to([2, 2]))).toBe(false);
});

test("sentences have their stops", () => {
  expect(asSentences("bay.geojson is the workspace", "reversed 1 ring of a.json", "so it is.")).toBe(
    "bay.geojson is the workspace. Reversed 1 ring of a.json. So it is.",
  );
});

describe("axes", () => {
  test("tell large coordinates apart", () => {
    expect(labelled([5e6, 5e6 + 2, 5e6 + 4])).toEqual({
      labels: ["0", "2", "4"],
      about: " − 5\u2009000\u2009000",
    });
    expect(labelled([500000, 505000, 510000], "m").about).toBe(" − 500\u2009000 (m)");
    expect(labelled([-5e6 - 4, -5e6 - 2]).about).toMatch(/^ \+ 5/);
  });

  test("have short numbers at any scale", () => {
    expect(labelled([0, 2e-6, 4e-6])).toEqual({ labels: ["0", "2", "4"], about: " (10⁻⁶)" });
    expect(labelled([0, 5e5, 1e6], "m")).toEqual({ labels: ["0", "0.5", "1"], about: " (10⁶\u2009m)" });
    expect(labelled([0, 2.5, 5])).toEqual({ labels: ["0", "2.5", "5"], about: "" });
    for (const offset of [0, 1e6, -3e8, 4.5e7])
      for (const span of [1e-9, 1e-3, 1, 7, 1e4, 1e9]) {
        const ticks = [0, 1, 2, 3].map((k) => offset + (k * span) / 4);
        if (new Set(ticks).size < 4) continue;
        const { labels } = labelled(ticks);
        expect(new Set(labels).size).toBe(4);
        expect(Math.max(...labels.map((one) => one.length))).toBeLessThanOrEqual(8);
      }
  });
});

describe("densities on grids", () => {
  const table: RasterTable = {
    kind: "raster",
    inline: [
      [1, 3],
      [5, 7],
    ],
    origin: [10, 20],
    pixel: [2, 1],
    rows: "south first",
    interpolation: "constant",
  };
  const at = (change: Partial<RasterTable>, x: number, y: number): number | undefined =>
    densityOf({ ...table, ...change } as RasterTable)?.([x, y]);

  test("have the value of the pixel", () => {
    expect([at({}, 10.1, 20.1), at({}, 13.9, 20.5), at({}, 11, 21.9), at({}, 13, 22)]).toEqual([1, 3, 5, 7]);
    expect(at({ rows: "north first" }, 10.1, 20.1)).toBe(5);
    expect(at({ pixel: 1 }, 11.5, 20.5)).toBe(3);
    expect([at({}, 9.9, 20.5), at({}, 12, 22.1)]).toEqual([0, 0]);
  });

  test("or between the middles of pixels, continued over the last half", () => {
    const bilinear = (x: number, y: number): number | undefined => at({ interpolation: "bilinear" }, x, y);
    expect(bilinear(11, 20.5)).toBe(1);
    expect(bilinear(12, 20.5)).toBe(2);
    expect(bilinear(12, 21)).toBe(4);
    expect([bilinear(10, 20), bilinear(14, 22), bilinear(12.5, 20)]).toEqual([1, 7, 2.5]);
  });

  test("in files cannot be drawn here, and may be parts of others", () => {
    expect(densityOf({ kind: "raster", file: "depth.npy" } as unknown as RasterTable)).toBeNull();
    expect(
      densityOf(withPeaks(table, [{ kind: "gaussian", center: [10.5, 20.5], rate: 1 }]))?.([10.5, 20.5]),
    ).toBe(2);
  });

  const bounds = { left: 0, right: 8, bottom: 0, top: 4 };
  const blank = paintable({ kind: "uniform" }, () => 2, bounds);
  const over = (raster: RasterTable, x: number, y: number): number =>
    (densityOf(raster) as (z: readonly number[]) => number)([x, y]);

  test("to be painted cover the workspace with the density that was there", () => {
    expect([blank.inline.length, blank.inline[0].length]).toEqual([32, 64]);
    for (const [x, y] of [
      [0, 0],
      [8, 4],
      [3, 1],
    ])
      expect(over(blank, x, y)).toBe(2);
    expect(paintable(blank, null, bounds)).toBe(blank);
    expect(paintable(blank, () => 3, { ...bounds, right: 9 }).inline[0][0]).toBe(3); // it would not cover that
    const slope = paintable({ kind: "polynomial" }, (z) => z[0], bounds);
    expect(over(slope, 5, 2)).toBeCloseTo(5, 3);
  });

  test("are painted where the brush goes, once per stroke, and erased", () => {
    const brush = { size: 0.1, strength: 0.5, erase: false };
    const stroke = new Stroke(blank, 1, brush);
    stroke.to([2, 2]);
    const once = stroke.to([6, 2]);
    const again = stroke.to([2, 2]);
    expect(again).toEqual(once);
    expect(over(once, 4, 2)).toBeGreaterThan(10); // half the way from 2 to 20
    expect(over(once, 4, 2)).toBeLessThanOrEqual(11);
    expect([over(once, 4, 3.5), over(once, 0.5, 2)]).toEqual([2, 2]);
    expect(blank.inline.flat().every((v) => v === 2)).toBe(true); // that is for undo
    const erased = new Stroke(once, 1, { ...brush, strength: 1, erase: true }).to([4, 2]);
    expect(over(erased, 4, 2)).toBeLessThan(0.5);
    const most = Math.max(...once.inline.flat());
    expect(Math.max(...new Stroke(once, 1, { ...brush, strength: 1 }).to([4, 2]).inline.flat())).toBe(most);
  });

  test("from pictures have their top in the north, and light counts", () => {
    const [white, black, clear] = [
      [255, 255, 255, 255],
      [0, 0, 0, 255],
      [255, 255, 255, 0],
    ];
    const raster = rasterOfPicture([...white, ...black, ...clear, ...white], 2, 2, bounds);
    expect(raster.inline).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(over(raster, 0.5, 3.5)).toBe(1);
  });
});

test("what is clipped in an SVG file is in a group of its own, with holes left out", () => {
  const pen = new SvgPen(10, 10);
  const box = (a: number, b: number): void => {
    pen.move(a, a);
    pen.line(b, a);
    pen.line(b, b);
    pen.close();
  };
  pen.begin();
  box(0, 9);
  box(2, 4);
  pen.within(() => {
    pen.begin();
    box(1, 8);
    pen.stroke({ colour: "#000" });
  });
  pen.fill({ colour: "#111" }, true);
  const svg = pen.finish("#fff");
  expect(svg).toMatch(
    /<clipPath id="clip0"><path d="M0 0L9 0L9 9ZM2 2L4 2L4 4Z" clip-rule="evenodd"\/><\/clipPath>\n<g clip-path="url\(#clip0\)">\n<path d="M1 1[^>]*>\n<\/g>/,
  );
  expect(svg).toContain('fill="#111" fill-rule="evenodd"');
});
