/**
 * Forms: what is typed into fields, one entry after another. What is refused stays in its field as
 * a draft, with the reason; nothing is run until it is mended, or taken back.
 */

import type { Scenario } from "../net/api";
import type { AppState, Panel } from "./app";
import type { Session } from "./session";

/** A place in the scenario that a field is for. */
export interface Spot {
  readonly key: string;
  readonly name: string; // as it is called on the page
  readonly panel: Panel; // where its field is
  readonly empty?: string; // what an empty field means; "none" by default
  readonly parse: (text: string, name: string) => Parsed;
  readonly read: (scenario: Scenario) => unknown;
  readonly write: (scenario: Scenario, value: unknown) => Scenario;
}

export type Parsed = { readonly value: unknown } | { readonly wrong: string };

export interface Draft {
  readonly spot: Spot;
  readonly text: string; // as it was typed
  readonly says: string; // why it was refused
  readonly was: string; // what the scenario had and has; if it is something else, this is out of date
  readonly write: ((scenario: Scenario) => Scenario) | null; // null: the text is no value at all
}

const held = (spot: Spot, scenario: Scenario): string => JSON.stringify(spot.read(scenario) ?? null);

/** Drafts of what is still in the scenario as it was when they were refused. */
export function standing({ drafts, scenario }: AppState): readonly Draft[] {
  return scenario && drafts.length ? drafts.filter((one) => held(one.spot, scenario) === one.was) : [];
}

export class Forms {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly session: Session) {}

  /** One after another: each begins with what the one before has made of the scenario. */
  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.turn.then(act, act);
    this.turn = done.catch(() => undefined);
    return done;
  }

  /** Put what was typed into the scenario. */
  fill(spot: Spot, text: string): Promise<void> {
    return this.inTurn(() => this.put(spot, text));
  }

  /** Change the scenario otherwise, in the same order; false if it was refused. */
  change(write: (scenario: Scenario) => Scenario): Promise<boolean> {
    return this.inTurn(async () => {
      const { scenario } = this.session.store.get();
      return scenario !== null && this.session.change(write(scenario));
    });
  }

  /** Give up what was typed. */
  drop(...keys: readonly string[]): void {
    const { drafts, notice } = this.session.store.get();
    const gone = drafts.filter((one) => keys.includes(one.spot.key));
    if (!gone.length) return;
    if (gone.some((one) => one.says === notice?.text)) this.session.quiet();
    this.session.store.set({ drafts: drafts.filter((one) => !gone.includes(one)) });
  }

  /** Whether everything that was typed is in the scenario; if not, it is said and shown. */
  async ready(): Promise<boolean> {
    await this.turn;
    const wrong = standing(this.session.store.get())[0];
    if (!wrong) return true;
    this.session.store.set({ panel: wrong.spot.panel });
    this.session.say(`Not run, as ${wrong.spot.name} is not corrected: ${wrong.says}`, "error");
    return false;
  }

  private async put(spot: Spot, text: string): Promise<void> {
    const { scenario } = this.session.store.get();
    if (!scenario) return;
    const found = spot.parse(text, spot.name);
    if ("wrong" in found) return this.refuse(spot, text, found.wrong, null);
    if (JSON.stringify(found.value) === held(spot, scenario)) return this.drop(spot.key);
    const write = (s: Scenario): Scenario => spot.write(s, found.value);
    if (await this.takeAll(spot, write, scenario)) return;
    const why = await this.take(write(scenario));
    if (why) this.refuse(spot, text, why, write);
    else this.drop(spot.key);
  }

  /** Together with what was refused before: two keys may be wrong one by one, and right together. */
  private async takeAll(spot: Spot, write: (s: Scenario) => Scenario, scenario: Scenario): Promise<boolean> {
    const others = standing(this.session.store.get()).filter((one) => one.write && one.spot.key !== spot.key);
    if (!others.length) return false;
    const all = others.reduce((s, one) => one.write?.(s) ?? s, write(scenario));
    if (await this.take(all)) return false;
    this.drop(spot.key, ...others.map((one) => one.spot.key));
    return true;
  }

  /** Why it was refused; empty if it was not. */
  private async take(scenario: Scenario): Promise<string> {
    this.session.quiet();
    if (await this.session.change(scenario)) return "";
    const { notice } = this.session.store.get();
    return notice?.kind === "error" ? notice.text : ""; // without one, a later change came in between
  }

  private refuse(spot: Spot, text: string, says: string, write: Draft["write"]): void {
    const { drafts, scenario } = this.session.store.get();
    if (!scenario) return;
    const draft: Draft = { spot, text, says, was: held(spot, scenario), write };
    this.session.store.set({ drafts: [...drafts.filter((one) => one.spot.key !== spot.key), draft] });
    this.session.say(says, "error");
  }
}
