/** Orthographic projection: a point of space to the right, upward and toward the eye, from a middle. */

import type { Orbit } from "../map/orbit";
import { dot, length, minus, type Vector } from "./vector";
import type { Solid } from "./solid";

export class Projection {
  readonly middle: Vector;
  readonly radius: number; // of the ball about the middle that has the solid in it
  readonly lower: Vector; // box of the solid
  readonly upper: Vector;
  readonly toward: Vector;
  private readonly right: Vector;
  private readonly up: Vector;

  constructor(solid: Solid, { azimuth, elevation }: Orbit) {
    const corners = solid.faces.flatMap((face) => face.corners);
    const end = (i: number, which: (...values: number[]) => number): number =>
      which(...corners.map((z) => z[i]));
    this.lower = [end(0, Math.min), end(1, Math.min), end(2, Math.min)];
    this.upper = [end(0, Math.max), end(1, Math.max), end(2, Math.max)];
    const { lower, upper } = this;
    this.middle = [(lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2, (lower[2] + upper[2]) / 2];
    this.radius = Math.max(...corners.map((z) => length(minus(z, this.middle))));
    const [sa, ca, se, ce] = [Math.sin(azimuth), Math.cos(azimuth), Math.sin(elevation), Math.cos(elevation)];
    this.right = [-sa, ca, 0];
    this.up = [-se * ca, -se * sa, ce];
    this.toward = [ce * ca, ce * sa, se];
  }

  at(z: Vector): Vector {
    return this.along(minus(z, this.middle));
  }

  /** A direction, which has no place. */
  along(v: Vector): Vector {
    return [dot(this.right, v), dot(this.up, v), dot(this.toward, v)];
  }

  /** How near a point is to the eye, from 0 to 1. */
  nearness(z: Vector): number {
    return Math.min(1, Math.max(0, 0.5 + this.at(z)[2] / (2 * this.radius)));
  }
}
