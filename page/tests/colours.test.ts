import sheet from "../src/style.css?raw";
import { describe, expect, test } from "vitest";
import { DARK, LIGHT, type Theme } from "../src/map/theme";

type Colour = readonly [number, number, number];

/** A colour in linear light. */
function linear(hex: string): Colour {
  const [r, g, b] = [1, 3, 5]
    .map((k) => parseInt(hex.slice(k, k + 2), 16) / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return [r, g, b];
}

const light = ([r, g, b]: Colour): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** WCAG's contrast ratio. */
function contrast(a: string, b: string): number {
  const [low, high] = [light(linear(a)), light(linear(b))].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// Machado, Oliveira and Fernandes (2009), severity 1, and good sight.
const SIGHTS: Record<string, readonly Colour[]> = {
  good: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** CIE L*a*b* of a colour as it is seen. */
function seen(hex: string, sight: readonly Colour[]): Colour {
  const c = linear(hex);
  const [r, g, b] = sight.map((row) =>
    Math.min(1, Math.max(0, row[0] * c[0] + row[1] * c[1] + row[2] * c[2])),
  );
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(light([r, g, b]));
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** How far apart two colours look with good sight. */
function apart(a: string, b: string): number {
  const [x, y] = [seen(a, SIGHTS["good"]), seen(b, SIGHTS["good"])];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

/** Lightness in OKLab. */
function lightness(hex: string): number {
  const [r, g, b] = linear(hex);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
}

describe.each([LIGHT, DARK])("colours that are $name", (theme: Theme) => {
  test("stand out from the paper, words more than marks", () => {
    for (const colour of [
      theme.ink,
      theme.cell,
      theme.flash,
      theme.limit,
      theme.good,
      theme.bad,
      theme.select,
    ])
      expect(contrast(colour, theme.paper)).toBeGreaterThan(4.5);
    for (const colour of theme.agents) expect(contrast(colour, theme.paper)).toBeGreaterThan(3);
  });

  const hex = (colour: Colour): string => `#${colour.map((v) => v.toString(16).padStart(2, "0")).join("")}`;

  test("of the density go from the paper in even steps of lightness", () => {
    const steps = theme.heat.map((colour) => lightness(hex(colour)));
    expect(Math.abs(steps[0] - lightness(theme.paper))).toBeLessThan(0.01);
    const span = steps[steps.length - 1] - steps[0];
    expect(Math.abs(span)).toBeGreaterThan(0.4);
    const even = steps.map((_, k) => steps[0] + (k * span) / (steps.length - 1));
    steps.forEach((l, k) => expect(Math.abs(l - even[k])).toBeLessThan(0.015));
  });

  test("of lines and agents can be seen on every density", () => {
    for (const ground of theme.heat.map(hex)) {
      expect(contrast(theme.line, ground)).toBeGreaterThan(3);
      for (const agent of theme.agents)
        // a dot has a rim in the colour of the paper
        expect(Math.max(contrast(agent, ground), contrast(theme.paper, ground))).toBeGreaterThan(1.6);
    }
  });

  test("of bounds, selections and samples are far from blue, which is the first agent's", () => {
    for (const colour of [theme.limit, theme.select, theme.flash])
      expect(apart(colour, theme.agents[0])).toBeGreaterThan(25);
  });

  test.each(Object.keys(SIGHTS))("of agents can be told apart with %s sight", (name) => {
    const labs = theme.agents.map((colour) => seen(colour, SIGHTS[name]));
    labs.forEach((a, i) =>
      labs
        .slice(i + 1)
        .forEach((b) => expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(20)),
    );
  });
});

describe.each([0, 1])("the sheet's colours, light and dark: %i", (which) => {
  const colours = new Map(
    [...sheet.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\)/g)].map(([, name, ...both]) => [
      name,
      both[which],
    ]),
  );
  const ratio = (a: string, b: string): number => contrast(colours.get(a) ?? "", colours.get(b) ?? "");

  test("words can be read", () => {
    for (const ground of ["paper", "ground"])
      for (const word of ["ink", "dim", "good", "bad"]) expect(ratio(word, ground)).toBeGreaterThan(4.5);
    for (const [word, ground] of [
      ["on-strong", "strong"],
      ["strong", "soft"],
      ["ink", "soft"],
      ["ink", "warm"],
    ])
      expect(ratio(word, ground)).toBeGreaterThan(4.5);
  });

  test("what has the focus is not like what is primary", () => {
    expect(apart(colours.get("focus") ?? "", colours.get("strong") ?? "")).toBeGreaterThan(25);
  });

  test("controls and what has the focus stand out", () => {
    for (const mark of ["edge", "focus", "strong"])
      for (const ground of ["paper", "ground"]) expect(ratio(mark, ground)).toBeGreaterThan(3);
  });
});
