/** Cost, errors and hold errors at some times, as the server measures them along the way. */

import { countUntil, overlap } from "./rows";

export interface SampleRows {
  readonly first: number;
  readonly count: number;
  readonly columns: Readonly<Record<string, ArrayLike<number>>>;
}

export class Samples {
  count = 0;
  readonly time: number[] = [];
  readonly cost: number[] = [];
  readonly error: number[] = [];
  readonly holdError: number[] = [];
  /** Errors of each agent, sample after sample; empty where there are too many agents. */
  readonly errors: number[] = [];
  readonly holdErrors: number[] = [];

  append(rows: SampleRows): void {
    const skip = overlap("samples", this.count, rows.first);
    if (skip >= rows.count) return;
    const take = (into: number[], name: string): void => {
      const values = rows.columns[name];
      if (!values) return;
      const width = values.length / rows.count;
      for (let k = skip * width; k < values.length; k++) into.push(values[k]);
    };
    take(this.time, "time");
    take(this.cost, "cost");
    take(this.error, "error");
    take(this.holdError, "hold_error");
    take(this.errors, "errors");
    take(this.holdErrors, "hold_errors");
    this.count = rows.first + rows.count;
  }

  /** The last sample at or before t; -1 if there is none. */
  before(t: number): number {
    return countUntil(this.time, this.count, t) - 1;
  }
}
