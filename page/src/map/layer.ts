/** Layers of a picture that are kept as long as what they show stays the same. */

import { isSame } from "./memo";
import { CanvasPen } from "./pen";
import type { Scene } from "./scene";

export function resize(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  { size }: Scene,
  ratio: number,
): void {
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
}

export class Layer {
  readonly canvas = document.createElement("canvas");
  readonly context = this.canvas.getContext("2d") as CanvasRenderingContext2D;
  readonly pen = new CanvasPen(this.context);
  private key: readonly unknown[] = [];

  /** Empty and of the right size, if the key is another one than before; whether it is. */
  renew(scene: Scene, ratio: number, key: readonly unknown[]): boolean {
    if (isSame(key, this.key)) return false;
    this.key = key;
    this.clear(scene, ratio);
    return true;
  }

  clear(scene: Scene, ratio: number): void {
    resize(this.canvas, this.context, scene, ratio);
  }

  /** Give back the memory of its picture. */
  release(): void {
    this.canvas.width = this.canvas.height = 0;
  }

  /** Take over what another layer of the same size shows. */
  copy(other: Layer): void {
    this.canvas.width = other.canvas.width; // this empties it, too
    this.canvas.height = other.canvas.height;
    this.context.drawImage(other.canvas, 0, 0);
  }
}
