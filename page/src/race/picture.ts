/** A comparison as one picture: title, maps, table and words. */

import { Painter } from "../map/painter";
import { FONT } from "../map/pen";
import { colourOf, type Theme } from "../map/theme";
import { maps, type MapEntry } from "../panels/map/exports";
import { bestOf, columnsOf, shown, type Ranked } from "./ranking";

const SHARP = 2; // pixels of the picture per unit below
const WIDTH = 1200;
const EDGE = 24;
const GAP = 12;
const ROW = 30; // of the table
const LINE = 20; // of text
const TITLE = 48;

export interface Content {
  readonly title: string;
  readonly words: readonly string[];
  readonly rows: readonly Ranked[];
  readonly level: number | null;
  readonly theme: Theme;
}

/** A map of the page, drawn anew so wide. */
function drawnMap(map: MapEntry, width: number): HTMLCanvasElement | null {
  const found = map.shown();
  if (!found) return null;
  const canvas = document.createElement("canvas");
  new Painter(canvas).draw(found.scene, found.density, (SHARP * width) / found.scene.size.width);
  return canvas;
}

/** The map of each row; null where the page has none of its lane. */
export const mapsOf = (rows: readonly Ranked[], all: Iterable<MapEntry>): (MapEntry | null)[] =>
  rows.map(({ lane }) => [...all].find((map) => map.lane === lane) ?? null);

/** Text in lines that are no wider than `width`. */
export function wrapped(text: string, width: number, measure: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && measure(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function comparisonPicture(content: Content): HTMLCanvasElement {
  const { rows, theme } = content;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const font = (size: number, weight = 400): string => `${weight} ${size}px ${FONT}`;
  const width = (WIDTH - 2 * EDGE - GAP * (rows.length - 1)) / rows.length;
  const pictures = mapsOf(rows, maps).map((map) => map && drawnMap(map, width));
  const tallest = Math.max(0, ...pictures.map((one) => (one ? one.height / SHARP : 0)));
  context.font = font(14);
  const lines = content.words.flatMap((text) =>
    wrapped(text, WIDTH - 2 * EDGE, (part) => context.measureText(part).width),
  );
  const table = EDGE + TITLE + LINE + tallest + GAP;
  const words = table + ROW * (rows.length + 1.5) + GAP;
  canvas.width = WIDTH * SHARP;
  canvas.height = (words + LINE * lines.length + EDGE) * SHARP;
  context.scale(SHARP, SHARP);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, WIDTH, canvas.height);
  context.textBaseline = "middle";
  const text = (said: string, x: number, y: number, style: string, colour: string): void => {
    context.font = style;
    context.fillStyle = colour;
    context.fillText(said, x, y);
  };
  text(content.title, EDGE, EDGE + TITLE / 3, font(22, 600), theme.ink);
  pictures.forEach((picture, k) => {
    const x = EDGE + k * (width + GAP);
    const top = EDGE + TITLE + LINE;
    text(rows[k].lane.name, x, top - LINE / 2, font(14, 600), theme.ink);
    if (picture) context.drawImage(picture, x, top, width, picture.height / SHARP);
    context.strokeStyle = theme.faint;
    context.strokeRect(x, top, width, tallest);
  });
  drawTable(context, content, table, font);
  lines.forEach((line, k) => text(line, EDGE, words + LINE * (k + 0.5), font(14), theme.ink));
  return canvas;
}

function drawTable(
  context: CanvasRenderingContext2D,
  { rows, level, theme }: Content,
  top: number,
  font: (size: number, weight?: number) => string,
): void {
  const columns = columnsOf(level, rows);
  const pitch = (WIDTH - 2 * EDGE - 200) / columns.length;
  const right = (c: number): number => EDGE + 200 + pitch * (c + 1);
  const rule = (y: number): void => {
    context.fillStyle = theme.faint;
    context.fillRect(EDGE, y, WIDTH - 2 * EDGE, 1);
  };
  const at = (row: number): number => top + ROW * (row + 2);
  context.textAlign = "right";
  columns.forEach(({ name, about, value, ranked }, c) => {
    context.fillStyle = theme.ink;
    context.font = font(13, 600);
    context.fillText(name, right(c), top + 12);
    context.fillStyle = theme.cell;
    context.font = font(12);
    context.fillText(about, right(c), top + 30);
    const values = rows.map(({ figures }) => value(figures));
    const best = ranked ? bestOf(values) : new Set<number>();
    values.forEach((one, k) => {
      context.fillStyle = theme.ink;
      context.font = font(15, best.has(k) ? 700 : 400);
      context.fillText(best.has(k) ? `★ ${shown(one)}` : shown(one), right(c), at(k));
    });
  });
  context.textAlign = "left";
  rows.forEach(({ lane }, k) => {
    rule(at(k) - ROW / 2);
    context.fillStyle = colourOf(theme, k);
    context.fillRect(EDGE, at(k) - 3, 18, 6);
    context.fillStyle = theme.ink;
    context.font = font(15, 600);
    context.fillText(lane.name, EDGE + 26, at(k));
  });
  context.fillStyle = theme.cell;
  context.font = font(12);
  context.fillText("★ best of its column", EDGE, top + 30);
}
