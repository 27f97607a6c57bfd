/** What the server says of a setting: objections, and changes of one number that would do. */

import { useEffect, useState } from "preact/hooks";
import { design, Refusal } from "../../net/api";
import { useApp } from "../context";
import { withSetting, type Measured, type Setting } from "./formulas";

const ASK_AFTER = 500; // milliseconds after the last change

export interface Said {
  readonly reasons: readonly string[];
  readonly helps: readonly string[]; // changes of one number that would do
  readonly fails: readonly string[]; // numbers of which no value would
  readonly measured: Measured | null;
}

interface Answer {
  readonly reasons?: readonly string[];
  readonly advice?: readonly { says: string; possible: boolean }[];
  readonly measured_lipschitz?: { readonly start?: Measured | null };
}

function saidBy({ reasons = [], advice = [], measured_lipschitz }: Answer): Said {
  const those = (possible: boolean): string[] =>
    advice.filter((one) => one.possible === possible).map((one) => one.says);
  return { reasons, helps: those(true), fails: those(false), measured: measured_lipschitz?.start ?? null };
}

/** The answer about a setting; null while it is requested, or where there is none. */
export function useAdvice(setting: Setting | null): Said | null {
  const scenario = useApp((app) => app.scenario);
  const [said, say] = useState<Said | null>(null);
  useEffect(() => {
    if (!scenario || !setting) return;
    let over = false;
    const ask = async (): Promise<void> => {
      try {
        const found = (await design(withSetting(scenario, setting))) as Answer;
        if (!over) say(saidBy(found));
      } catch (error) {
        const reasons = error instanceof Refusal ? [error.message] : [];
        if (!over) say(reasons.length ? { reasons, helps: [], fails: [], measured: null } : null);
      }
    };
    const timer = window.setTimeout(() => void ask(), ASK_AFTER);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [scenario, setting]);
  return said;
}

export function Advice({ said }: { said: Said | null }) {
  if (!said) return null;
  return (
    <section>
      <Listed title="What stands against it" lines={said.reasons} />
      <Listed
        title={said.helps.length > 1 ? "Any one of these would do" : "This would do"}
        lines={said.helps}
      />
      <Listed title="These alone would not" lines={said.fails} />
    </section>
  );
}

function Listed({ title, lines }: { title: string; lines: readonly string[] }) {
  if (!lines.length) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {lines.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </>
  );
}
