/** A pen that writes an SVG file. */

import { FONT, type Affine, type Ink, type Label, type Pen } from "./pen";

const short = (v: number): string => String(Math.round(v * 100) / 100);
const safe = (text: string): string =>
  text.replace(/[<>&"]/g, (c) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[c] as string);

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private path = "";
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  begin(): void {
    this.path = "";
  }
  move(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }
  line(x: number, y: number): void {
    this.path += `L${short(x)} ${short(y)}`;
  }
  close(): void {
    this.path += "Z";
  }
  circle(x: number, y: number, radius: number): void {
    const r = short(radius);
    const d = short(2 * radius);
    this.path += `M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0Z`;
  }
  stroke(ink: Ink): void {
    if (!this.path) return;
    const dash = ink.dash?.length ? ` stroke-dasharray="${ink.dash.join(" ")}"` : "";
    const alpha = ink.alpha === undefined ? "" : ` stroke-opacity="${ink.alpha}"`;
    this.parts.push(
      `<path d="${this.path}" fill="none" stroke="${ink.colour}" stroke-width="${ink.width ?? 1}" stroke-linejoin="round"${alpha}${dash}/>`,
    );
  }
  fill(ink: Ink, holes = false): void {
    if (!this.path) return;
    const alpha = ink.alpha === undefined ? "" : ` fill-opacity="${ink.alpha}"`;
    this.parts.push(
      `<path d="${this.path}" fill="${ink.colour}"${holes ? ' fill-rule="evenodd"' : ""}${alpha}/>`,
    );
  }
  within(draw: () => void): void {
    const name = `clip${this.clips++}`;
    this.parts.push(
      `<clipPath id="${name}"><path d="${this.path}" clip-rule="evenodd"/></clipPath>`,
      `<g clip-path="url(#${name})">`,
    );
    draw();
    this.parts.push("</g>");
  }
  text(words: string, x: number, y: number, label: Label): void {
    const anchor = { left: "start", center: "middle", right: "end" }[label.align ?? "left"];
    const halo = label.halo
      ? ` stroke="${label.halo}" stroke-width="3" paint-order="stroke" stroke-linejoin="round"`
      : "";
    const weight = label.bold ? ' font-weight="600"' : "";
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" font-size="${label.size ?? 11}" fill="${label.colour}" text-anchor="${anchor}" dominant-baseline="central"${halo}${weight}>${safe(words)}</text>`,
    );
  }
  picture(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.within(() =>
      this.parts.push(
        `<image x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none" href="${image.toDataURL("image/png")}"/>`,
      ),
    );
  }
  skewed(image: HTMLCanvasElement, map: Affine): void {
    const { width, height } = image;
    const matrix = map.map((v) => v.toPrecision(6)).join(" ");
    this.within(() =>
      this.parts.push(
        `<image width="${width}" height="${height}" transform="matrix(${matrix})" preserveAspectRatio="none" href="${image.toDataURL("image/png")}"/>`,
      ),
    );
  }

  /** What is drawn by `draw` stands so much lower. */
  shifted(down: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(0 ${down})">`);
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  finish(background: string): string {
    const { width, height } = this;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${safe(FONT)}">`,
      `<rect width="${width}" height="${height}" fill="${background}"/>`,
      ...this.parts,
      "</svg>\n",
    ].join("\n");
  }
}
