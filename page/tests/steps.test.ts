import { describe, expect, test } from "vitest";
import { flattened, pairsOf, shadowOf } from "../src/geometry/shadow";
import { blankState } from "../src/arc/arc";
import { inSight, toX } from "../src/map/view";
import type { Scenario } from "../src/net/api";
import { History, type Shown } from "../src/state/history";

const scenario = { run: { horizon: 1 } } as Scenario;

/** A run of so many rows, as far as the history asks. */
const runOf = (rows: number): Shown =>
  ({
    lanes: [{ timeline: { pieces: [{ arc: { events: { count: rows } } }] } }],
    t: 0,
    jump: null,
  }) as unknown as Shown;

function keptOf(shown: readonly Shown[]): boolean[] {
  const history = new History();
  for (const one of shown) history.push({ scenario, start: [], shown: one });
  return shown.map(() => Boolean(history.move({ scenario, start: [] }, true)?.shown));
}

describe("steps back", () => {
  test("keep the latest runs, and not more than fit", () => {
    expect(keptOf(Array.from({ length: 10 }, () => runOf(10)))).toEqual([
      ...Array<boolean>(8).fill(true),
      false,
      false,
    ]);
    expect(keptOf([runOf(10), runOf(900_000), runOf(900_000)])).toEqual([true, false, false]);
    const same = runOf(900_000);
    expect(keptOf([same, same, same])).toEqual([true, true, true]);
  });

  test("are taken back when a change could not be", () => {
    const history = new History();
    history.push({ scenario, start: [[1]] });
    expect(history.takeBack()?.start).toEqual([[1]]);
    expect(history.move({ scenario, start: [] }, true)).toBeNull();
  });
});

describe("a view", () => {
  const bounds = { left: 0, right: 10, bottom: 0, top: 6 };
  const size = { width: 400, height: 300 };

  test("keeps some of the world in it, and stays as it is where it does", () => {
    const here = { x: 5, y: 3, sx: 30, sy: 30 };
    expect(inSight(here, size, bounds)).toBe(here);
    const far = inSight({ ...here, x: -100, y: 3 }, size, bounds);
    expect(toX(far, size, 0)).toBeCloseTo(400 - 80, 9);
    expect(inSight({ ...here, x: 100 }, size, bounds).x).toBeCloseTo(10 - 80 / 30 + 200 / 30, 9);
  });
});

describe("a shadow", () => {
  test("of a box, a ball and an ellipsoid that is turned", () => {
    const xs = (table: Record<string, unknown>, axes: readonly [number, number]): number[] => {
      const { ring } = shadowOf(table, [], axes);
      return [0, 1].flatMap((i) => [Math.min(...ring.map((z) => z[i])), Math.max(...ring.map((z) => z[i]))]);
    };
    expect(xs({ kind: "box", lower: [0, 1, 2], upper: [3, 5, 7] }, [1, 2])).toEqual([1, 5, 2, 7]);
    xs({ kind: "ball", center: [1, 2, 3], radius: 2 }, [0, 2]).forEach((v, k) =>
      expect(v).toBeCloseTo([-1, 3, 1, 5][k], 2),
    );
    const h = Math.SQRT1_2;
    const turned = {
      kind: "ellipsoid",
      center: [0, 0, 0],
      semi_axes: [3, 1, 2],
      axes: [
        [h, h, 0],
        [-h, h, 0],
        [0, 0, 1],
      ],
    };
    // Half the width of an ellipsoid along an axis is the length of its half axes times their shares of it.
    xs(turned, [0, 2]).forEach((v, k) => expect(v).toBeCloseTo([-Math.sqrt(5), Math.sqrt(5), -2, 2][k], 2));
  });

  test("has everybody where both axes say", () => {
    const state = blankState(2, 3);
    state.positions.set([1, 2, 3, 4, 5, 6]);
    expect([...flattened(state, [0, 2]).positions]).toEqual([1, 3, 4, 6]);
    expect(pairsOf(3)).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
  });
});
