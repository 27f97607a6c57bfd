/** Pen: what a picture is drawn with, on a canvas or into an SVG file. Units are pixels. */

export interface Ink {
  readonly colour: string;
  readonly width?: number;
  readonly alpha?: number;
  readonly dash?: readonly number[];
}

export interface Label {
  readonly colour: string;
  readonly size?: number;
  readonly align?: "left" | "center" | "right";
  readonly halo?: string;
  readonly bold?: boolean;
}

export interface Pen {
  begin(): void;
  move(x: number, y: number): void;
  line(x: number, y: number): void;
  close(): void;
  circle(x: number, y: number, radius: number): void;
  stroke(ink: Ink): void;
  /** Fill the path; with `holes`, what is inside two of its rings is left out. */
  fill(ink: Ink, holes?: boolean): void;
  /** What is drawn by `draw` is seen only inside the present path. */
  within(draw: () => void): void;
  text(words: string, x: number, y: number, label: Label): void;
  /** A picture stretched over a rectangle, seen only through the present path. */
  picture(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  /** A picture whose pixels an affine map puts on the page, seen only through the present path. */
  skewed(image: HTMLCanvasElement, map: Affine): void;
}

/** (x, y) goes to (a x + c y + e, b x + d y + f). */
export type Affine = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  begin(): void {
    this.context.beginPath();
  }
  move(x: number, y: number): void {
    this.context.moveTo(x, y);
  }
  line(x: number, y: number): void {
    this.context.lineTo(x, y);
  }
  close(): void {
    this.context.closePath();
  }
  circle(x: number, y: number, radius: number): void {
    this.context.moveTo(x + radius, y);
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  stroke(ink: Ink): void {
    const c = this.context;
    c.globalAlpha = ink.alpha ?? 1;
    c.strokeStyle = ink.colour;
    c.lineWidth = ink.width ?? 1;
    c.setLineDash((ink.dash as number[]) ?? []);
    c.lineJoin = "round";
    c.stroke();
    c.globalAlpha = 1;
  }
  fill(ink: Ink, holes = false): void {
    const c = this.context;
    c.globalAlpha = ink.alpha ?? 1;
    c.fillStyle = ink.colour;
    c.fill(holes ? "evenodd" : "nonzero");
    c.globalAlpha = 1;
  }
  within(draw: () => void): void {
    this.context.save();
    this.context.clip("evenodd");
    draw();
    this.context.restore();
  }
  text(words: string, x: number, y: number, label: Label): void {
    const c = this.context;
    c.font = `${label.bold ? "600 " : ""}${label.size ?? 11}px ${FONT}`;
    c.textAlign = label.align ?? "left";
    c.textBaseline = "middle";
    if (label.halo) {
      c.strokeStyle = label.halo;
      c.lineWidth = 3;
      c.lineJoin = "round";
      c.setLineDash([]);
      c.strokeText(words, x, y);
    }
    c.fillStyle = label.colour;
    c.fillText(words, x, y);
  }
  picture(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    const c = this.context;
    this.within(() => {
      c.imageSmoothingEnabled = true;
      c.imageSmoothingQuality = "high";
      c.drawImage(image, x, y, width, height);
    });
  }
  skewed(image: HTMLCanvasElement, map: Affine): void {
    this.within(() => {
      this.context.transform(...map);
      this.context.drawImage(image, 0, 0);
    });
  }
}
