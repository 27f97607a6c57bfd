/** Contours: where values on a grid pass some levels, as straight pieces (marching squares). */

/** Pieces x0, y0, x1, y1 in units of the grid, one after another. */
export function contoursOf(
  values: ArrayLike<number>,
  columns: number,
  rows: number,
  levels: readonly number[],
): Float64Array {
  const found: number[] = [];
  for (const level of levels)
    for (let j = 0; j + 1 < rows; j++)
      for (let i = 0; i + 1 < columns; i++) {
        const at = j * columns + i;
        square(
          found,
          i,
          j,
          level,
          values[at],
          values[at + 1],
          values[at + columns + 1],
          values[at + columns],
        );
      }
  return Float64Array.from(found);
}

/** The pieces within one square of the grid with values a, b, c, d, clockwise from the top left. */
function square(
  found: number[],
  i: number,
  j: number,
  level: number,
  a: number,
  b: number,
  c: number,
  d: number,
): void {
  const above = (a > level ? 1 : 0) + (b > level ? 2 : 0) + (c > level ? 4 : 0) + (d > level ? 8 : 0);
  if (above === 0 || above === 15) return;
  const share = (from: number, to: number): number => (level - from) / (to - from);
  const sides: (readonly [number, number] | null)[] = [
    a > level !== b > level ? [i + share(a, b), j] : null,
    b > level !== c > level ? [i + 1, j + share(b, c)] : null,
    d > level !== c > level ? [i + share(d, c), j + 1] : null,
    a > level !== d > level ? [i, j + share(a, d)] : null,
  ];
  const points = sides.filter((one) => one !== null);
  for (let k = 0; k + 1 < points.length; k += 2) found.push(...points[k], ...points[k + 1]);
}
