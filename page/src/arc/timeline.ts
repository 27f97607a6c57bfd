/** Timeline: arcs one after another, as when an agent was moved by hand on the way. */

import type { Arc, ArcState, Counts } from "./arc";

export interface Piece {
  readonly arc: Arc;
  /** When it begins, in the time of the whole. */
  readonly offset: number;
  /** How many jumps came before it. */
  readonly jumps: number;
  /** When it is to end, in the time of the whole. */
  readonly end: number;
}

export interface Place<P extends Piece = Piece> {
  readonly piece: P;
  readonly t: number;
  readonly jump: number;
}

const NOTHING: Counts = { samples: 0, received: 0, sent: 0 };

export class Timeline<P extends Piece = Piece> {
  constructor(readonly pieces: readonly P[] = []) {}

  get last(): P | null {
    return this.pieces[this.pieces.length - 1] ?? null;
  }

  /** Where it begins; after 0 only where the server has forgotten the first arcs. */
  get begin(): number {
    return this.pieces[0]?.offset ?? 0;
  }

  /** The time at which it is to end. */
  get end(): number {
    return this.last?.end ?? 0;
  }

  /** The time up to which everything is known. */
  get known(): number {
    return this.last ? this.last.offset + this.last.arc.known : 0;
  }

  get jumps(): number {
    return this.last ? this.last.jumps + this.last.arc.events.count : 0;
  }

  /** The same as far as the next piece begins, and then that piece. */
  cutAt(next: P): Timeline<P> {
    const kept = this.pieces.filter((piece) => piece.offset < next.offset && piece.jumps <= next.jumps);
    return new Timeline([...kept, next]);
  }

  pieceAt(t: number, jump: number): P | null {
    for (let k = this.pieces.length - 1; k > 0; k--) {
      const piece = this.pieces[k];
      if (piece.offset <= t && piece.jumps <= jump) return piece;
    }
    return this.pieces[0] ?? null;
  }

  /** How many jumps have happened at time t, those at t included. */
  jumpsUntil(t: number): number {
    for (let k = this.pieces.length - 1; k >= 0; k--) {
      const piece = this.pieces[k];
      if (piece.offset <= t || k === 0) return piece.jumps + piece.arc.jumpsUntil(t - piece.offset);
    }
    return 0;
  }

  /** When the jump happens after which there have been `jump` of them. */
  timeOf(jump: number): number {
    if (jump <= (this.pieces[0]?.jumps ?? 0)) return this.begin;
    for (let k = this.pieces.length - 1; k >= 0; k--) {
      const piece = this.pieces[k];
      if (piece.jumps < jump) return piece.offset + piece.arc.events.time[jump - piece.jumps - 1];
    }
    return this.begin;
  }

  /** Which arc holds (t, j), and where in it. */
  locate(t: number, jump: number): Place<P> | null {
    const piece = this.pieceAt(t, jump);
    if (!piece) return null;
    const own = Math.min(t - piece.offset, piece.arc.known); // after its end it stays as it is
    return { piece, t: Math.max(0, own), jump: Math.max(0, jump - piece.jumps) };
  }

  stateAt(t: number, jump: number): ArcState | null {
    const place = this.locate(t, jump);
    return place && place.piece.arc.stateAt(place.t, place.jump);
  }

  /** Samples and messages from the beginning until (t, j), over all arcs. */
  counts(t: number, jump: number): Counts {
    let sum = NOTHING;
    const here = this.pieceAt(t, jump);
    for (const [k, piece] of this.pieces.entries()) {
      const next = this.pieces[k + 1];
      const until = piece === here || !next ? jump : next.jumps;
      const part = piece.arc.counts(Math.max(0, until - piece.jumps));
      sum = {
        samples: sum.samples + part.samples,
        received: sum.received + part.received,
        sent: sum.sent + part.sent,
      };
      if (piece === here) break;
    }
    return sum;
  }
}
