/** Clock: the hybrid time (t, j) that everything on the page shows, and how it goes on. */

export interface Instant {
  readonly t: number;
  readonly jump: number | null; // null: after all jumps at t
}

export const SPEEDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export class Clock {
  t = 0;
  jump: number | null = null;
  playing = false;
  speed = 5;
  private readonly listeners = new Set<() => void>();
  private readonly changes = new Set<() => void>();
  private last = 0;
  private dirty = true;
  private over = false;

  constructor(private readonly limit: () => { known: number; end: number }) {
    const frame = (now: number): void => {
      this.advance(Math.min(0.25, (now - this.last) / 1000));
      this.last = now;
      if (this.dirty) {
        this.dirty = false;
        for (const listener of this.listeners) listener();
      }
      if (!this.over) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Nothing is drawn any more. */
  close(): void {
    this.over = true;
  }

  private advance(seconds: number): void {
    if (!this.playing) return;
    const { known, end } = this.limit();
    const next = Math.max(this.t, Math.min(this.t + seconds * this.speed, known)); // never back
    if (next !== this.t) this.seek(next);
    if (end > 0 && this.t >= end) this.pause();
  }

  /** Draw again at the next frame. */
  touch(): void {
    this.dirty = true;
  }

  seek(t: number, jump: number | null = null): void {
    this.t = t;
    this.jump = jump;
    this.dirty = true;
  }

  play(): void {
    if (this.playing) return;
    this.playing = true;
    this.changed();
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.dirty = true;
    this.changed();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  private changed(): void {
    for (const listener of this.changes) listener();
  }

  /** Called once per frame in which something moved. */
  onFrame(listener: () => void): () => void {
    this.listeners.add(listener);
    this.dirty = true;
    return () => this.listeners.delete(listener);
  }

  /** Called when it starts, stops or changes its speed. */
  onChange(listener: () => void): () => void {
    this.changes.add(listener);
    return () => this.changes.delete(listener);
  }
}

const LASTS = 20; // seconds

/** The speed at which a run of this length takes twenty seconds, in two digits. */
export const usualSpeed = (horizon: number): number =>
  horizon > 0 ? Number((horizon / LASTS).toPrecision(2)) : 1;

/** The next speed of the list, up or down. */
export function nextSpeed(speed: number, by: 1 | -1): number {
  const found = by > 0 ? SPEEDS.find((one) => one > speed) : SPEEDS.findLast((one) => one < speed);
  return found ?? speed;
}
