/** Cost, errors and hold errors at some times, as the server measures them along the way. */

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
    const skip = this.count - rows.first;
    if (skip < 0) throw new Error(`samples from ${this.count} to ${rows.first} are missing`);
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
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time[middle] <= t) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
