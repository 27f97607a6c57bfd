/** What all columns that grow with a stream have in common. */

/** How many of the first `count` times, in order, are at most t. */
export function countUntil(time: ArrayLike<number>, count: number, t: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many rows of a message that begins at row `first` are there already, as after a reconnect. */
export function overlap(what: string, count: number, first: number): number {
  if (first > count) throw new Error(`${what} from ${count} to ${first} are missing`);
  return count - first;
}
