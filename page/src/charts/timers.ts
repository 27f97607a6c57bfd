/** How long each agent still waits before it looks: one bar per agent; of many, sorted. */

import type { ArcState } from "../arc/arc";
import { colourOf, type Theme } from "../map/theme";

export const MANY = 80;

export function drawTimers(canvas: HTMLCanvasElement, state: ArcState, theme: Theme, longest: number): void {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const many = state.agents > MANY;
  const waits = Array.from({ length: state.agents }, (_, p) =>
    state.present[p] ? Math.max(0, state.nextAt[p] - state.time) : 0,
  );
  if (many) waits.sort((a, b) => b - a);
  const pitch = width / state.agents;
  const bar = Math.max(1, Math.min(16, 0.7 * pitch));
  for (let p = 0; p < state.agents; p++) {
    const share = Math.min(1, waits[p] / (longest || 1));
    const x = (p + 0.5) * pitch - bar / 2;
    context.fillStyle = theme.faint;
    context.globalAlpha = 0.35;
    context.fillRect(x, 0, bar, height);
    context.globalAlpha = 1;
    context.fillStyle = many ? theme.limit : colourOf(theme, p);
    context.fillRect(x, height * (1 - share), bar, height * share);
  }
}
