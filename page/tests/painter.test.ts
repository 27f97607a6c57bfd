import { afterEach, expect, test, vi } from "vitest";
import { copiesOf } from "../src/map/trail_layer";

afterEach(() => vi.unstubAllGlobals());

test("copies of paths take at most 64 MB in all maps", () => {
  const whole = 1000 * 700;
  expect(copiesOf(whole, 1)).toBe(16);
  for (const [pixels, maps] of [
    [4 * whole, 1],
    [whole, 3],
    [4 * whole, 6],
  ])
    expect(4 * pixels * maps * copiesOf(pixels, maps)).toBeLessThanOrEqual(64e6);
  expect(copiesOf(4 * whole, 1)).toBeGreaterThan(4);
  expect(copiesOf(20e6, 1)).toBe(0);
});

test("a map is drawn anew when the font has arrived", async () => {
  let arrived = (): void => undefined;
  const ready = new Promise<void>((resolve) => (arrived = resolve));
  const createElement = () => ({ getContext: () => ({}), width: 0, height: 0 });
  vi.stubGlobal("document", { fonts: { ready }, createElement });
  vi.resetModules();
  const { Painter } = await import("../src/map/painter");
  const again = vi.fn();
  new Painter(createElement() as unknown as HTMLCanvasElement, again);
  expect(again).not.toHaveBeenCalled();
  arrived();
  await ready;
  await Promise.resolve();
  expect(again).toHaveBeenCalledOnce();
});
