/** History: scenarios as they were before each change, with the start that each of them has. */

import type { Scenario } from "../net/api";
import type { Places } from "./edits";

const MOST = 200; // steps back that are kept

export interface Step {
  readonly scenario: Scenario;
  readonly start: Places;
}

export class History {
  private past: Step[] = [];
  private future: Step[] = [];

  clear(): void {
    this.past = [];
    this.future = [];
  }

  /** A change was made; this is what there was before it. */
  push(before: Step): void {
    this.past = [...this.past, before].slice(-MOST);
    this.future = [];
  }

  /** One step back or forward from `now`; null if there is none. */
  move(now: Step, back: boolean): Step | null {
    const [from, into] = back ? [this.past, this.future] : [this.future, this.past];
    const found = from.pop();
    if (!found) return null;
    into.push(now);
    return found;
  }
}
