/** Ramp: colours of the density, evenly spaced in OKLab, the space of equal differences to the eye. */

export type Rgb = readonly [number, number, number];

/** Lightness, chroma and hue in degrees. */
export type Stop = readonly [number, number, number];

const STEPS = 256;

/** An OKLab colour in sRGB, from 0 to 255 (Ottosson 2020). */
function toRgb(lightness: number, a: number, b: number): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const encode = (v: number): number => {
    const x = Math.min(1, Math.max(0, v));
    return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
  };
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** A smooth curve through OKLab, a parabola from the first stop towards the second to the third. */
export function rampOf(stops: readonly [Stop, Stop, Stop]): readonly Rgb[] {
  const turn = Math.PI / 180;
  const [p, q, r] = stops.map(([l, c, h]) => [l, c * Math.cos(turn * h), c * Math.sin(turn * h)]);
  return Array.from({ length: STEPS }, (_, k) => {
    const s = k / (STEPS - 1);
    const [l, a, b] = p.map((v, i) => (1 - s) ** 2 * v + 2 * s * (1 - s) * q[i] + s * s * r[i]);
    return toRgb(l, a, b);
  });
}

/** The colour of a share of the largest density. */
export const shade = (ramp: readonly Rgb[], share: number): Rgb =>
  ramp[Math.max(0, Math.min(ramp.length - 1, Math.round((ramp.length - 1) * share)))];

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;
