/** History: scenarios as they were before each change, with the start and the run of each of them. */

import type { Scenario } from "../net/api";
import type { Places } from "./edits";
import type { Lane } from "./lane";

const MOST = 200; // steps back that are kept
const MOST_RUNS = 8; // of them that keep their run
const MOST_ROWS = 1_000_000; // of all those runs together; a row takes some 150 bytes

/** A run and the time that was shown of it. */
export interface Shown {
  readonly lanes: readonly Lane[];
  readonly t: number;
  readonly jump: number | null;
}

export interface Step {
  readonly scenario: Scenario;
  readonly start: Places;
  readonly shown?: Shown | null;
}

/** The same steps; runs may be large, so that only the latest are kept. */
function lightened(steps: readonly Step[]): Step[] {
  const seen = new Set<unknown>();
  let runs = 0;
  let rows = 0;
  const light = [...steps];
  for (let k = steps.length - 1; k >= 0; k--) {
    const { shown } = steps[k];
    if (!shown) continue;
    runs++;
    for (const { arc } of shown.lanes.flatMap((lane) => lane.timeline.pieces)) {
      if (!seen.has(arc)) rows += arc.events.count;
      seen.add(arc);
    }
    if (runs > MOST_RUNS || (runs > 1 && rows > MOST_ROWS)) light[k] = { ...steps[k], shown: null };
  }
  return light;
}

export class History {
  private past: Step[] = [];
  private future: Step[] = [];

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  clear(): void {
    this.past = [];
    this.future = [];
  }

  /** A change was made; this is what there was before it. */
  push(before: Step): void {
    this.past = lightened([...this.past, before].slice(-MOST));
    this.future = [];
  }

  /** The last change could not be: what there was before it. */
  takeBack(): Step | null {
    return this.past.pop() ?? null;
  }

  /** One step back or forward from `now`; null if there is none. */
  move(now: Step, back: boolean): Step | null {
    const [from, into] = back ? [this.past, this.future] : [this.future, this.past];
    const found = from.pop();
    if (!found) return null;
    const left = lightened([...into, now]);
    if (back) this.future = left;
    else this.past = left;
    return found;
  }
}
