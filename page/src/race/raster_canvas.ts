/** RasterCanvas: a band of samples for each law on one canvas, over a common part of time. */

import { colourOf, type Theme } from "../map/theme";
import { FONT } from "../map/pen";
import { labelsOf, ticksOf } from "../map/ticks";
import type { Lane } from "../state/lane";
import { gridOf, paintGrid, type Grid } from "./raster";

export const LEFT = 34; // pixels for the numbers of agents
export const RIGHT = 20;
const TITLE = 20; // pixels above a band
const BELOW = 22; // pixels for the numbers of time
const GAPS = 5; // pixels of a row from which on rows are kept apart

export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface Band {
  readonly lane: Lane;
  readonly top: number;
  readonly height: number;
}

/** Where each lane is drawn: high enough for a row per agent where that is possible. */
export function bandsOf(lanes: readonly Lane[]): Band[] {
  const [least, most] = lanes.length > 1 ? [44, 110] : [60, 220];
  let top = 0;
  return lanes.map((lane) => {
    const agents = lane.timeline.last?.arc.agents ?? 1;
    const height = Math.round(Math.min(most, Math.max(least, 9 * agents)));
    const band = { lane, top: top + (lanes.length > 1 ? TITLE : 4), height };
    top = band.top + height;
    return band;
  });
}

export const heightOf = (bands: readonly Band[]): number => {
  const last = bands[bands.length - 1];
  return (last ? last.top + last.height : 0) + BELOW;
};

const rgb = (colour: string): [number, number, number] => {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

export class RasterCanvas {
  private readonly context: CanvasRenderingContext2D;
  private readonly buffer = document.createElement("canvas");

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
  }

  draw(bands: readonly Band[], window: Window, theme: Theme): void {
    const ratio = devicePixelRatio || 1;
    const size = { width: this.canvas.clientWidth, height: heightOf(bands) };
    if (size.width <= LEFT + RIGHT) return;
    this.canvas.width = Math.round(size.width * ratio);
    this.canvas.height = Math.round(size.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const width = Math.floor(size.width - LEFT - RIGHT);
    const grids = bands.map(({ lane, height }) => gridOf(lane, window.from, window.to, width, height));
    const most = Math.max(...grids.map((grid) => grid.most)); // one scale for all laws
    bands.forEach((band, k) => {
      const alone = bands.length === 1;
      const colour = (row: number): [number, number, number] =>
        rgb(alone && grids[k].rows <= 80 ? colourOf(theme, row) : colourOf(theme, k));
      this.band(band, grids[k], most, colour, theme);
      if (!alone) this.words(band.lane.name, LEFT, band.top - 9, theme.ink, "left");
    });
    this.axis(window, width, heightOf(bands) - BELOW, theme);
  }

  private band(
    { top, height, lane }: Band,
    grid: Grid,
    most: number,
    colour: (row: number) => [number, number, number],
    theme: Theme,
  ): void {
    const { context, buffer } = this;
    buffer.width = grid.width;
    buffer.height = grid.rows;
    const inner = buffer.getContext("2d") as CanvasRenderingContext2D;
    const image = inner.createImageData(grid.width, grid.rows);
    paintGrid(grid, most, colour, image.data);
    inner.putImageData(image, 0, 0);
    context.fillStyle = theme.paper;
    context.fillRect(LEFT, top, grid.width, height);
    context.imageSmoothingEnabled = false;
    context.drawImage(buffer, LEFT, top, grid.width, height);
    const step = height / grid.rows;
    if (step >= GAPS)
      for (let row = 1; row < grid.rows; row++) context.fillRect(LEFT, top + row * step - 0.5, grid.width, 1);
    context.strokeStyle = theme.faint;
    context.lineWidth = 1;
    context.strokeRect(LEFT - 0.5, top - 0.5, grid.width + 1, height + 1);
    const last = (lane.timeline.last?.arc.agents ?? 1) - 1;
    this.words("0", LEFT - 6, top + Math.min(step / 2, 6), theme.cell, "right");
    if (last > 0)
      this.words(String(last), LEFT - 6, top + height - Math.min(step / 2, 6), theme.cell, "right");
  }

  private axis({ from, to }: Window, width: number, y: number, theme: Theme): void {
    const { context } = this;
    const marks = ticksOf(from, to, width);
    const labels = labelsOf(marks);
    context.strokeStyle = theme.cell;
    context.beginPath();
    for (const [k, t] of marks.entries()) {
      const x = LEFT + ((t - from) / (to - from)) * width;
      context.moveTo(x, y);
      context.lineTo(x, y + 4);
      this.words(labels[k], x, y + 12, theme.cell, "center");
    }
    context.stroke();
  }

  private words(text: string, x: number, y: number, colour: string, align: CanvasTextAlign): void {
    const { context } = this;
    context.font = `11px ${FONT}`;
    context.fillStyle = colour;
    context.textAlign = align;
    context.textBaseline = "middle";
    context.fillText(text, x, y);
  }
}
