/** What `dwell design` says of a scenario: verdict, what fails, and changes of one number that would do. */

import { useEffect, useState } from "preact/hooks";
import { design, Refusal, type DesignAdvice, type Designed, type Scenario } from "../../net/api";
import { useApp } from "../context";

const ASK_AFTER = 500; // milliseconds after the last change

/** An answer, or why there is none, about a scenario. */
export interface Answer {
  readonly about: Scenario;
  readonly found: Designed | null;
  readonly refused: string;
}

/** The last answer; `about` is not the scenario shown while that one is being measured. */
export function useAnswer(): Answer | null {
  const scenario = useApp((app) => app.scenario);
  const [answer, keep] = useState<Answer | null>(null);
  useEffect(() => {
    if (scenario?.controller.kind !== "timer") return;
    const given = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        keep({ about: scenario, found: await design(scenario, given.signal), refused: "" });
      } catch (error) {
        const refused = error instanceof Refusal ? error.message : "The server does not answer.";
        if (!given.signal.aborted) keep({ about: scenario, found: null, refused });
      }
    };
    const timer = window.setTimeout(() => void ask(), ASK_AFTER);
    return () => {
      given.abort();
      clearTimeout(timer);
    };
  }, [scenario]);
  return answer;
}

export function Advice({ answer }: { answer: Designed }) {
  const those = (all: readonly DesignAdvice[], possible: boolean): string[] =>
    all.filter((one) => one.possible === possible).map((one) => one.says);
  const helps = those(answer.advice, true);
  const measured = those(answer.advice_measured, true);
  const proved = those(answer.advice_proved ?? [], true);
  return (
    <section class="advice">
      {answer.theorem && <p class="dim">{answer.theorem}</p>}
      <Listed title="What fails" lines={answer.reasons} />
      <Listed title="For what is proved without L" lines={proved} />
      <Listed
        title={`For the paper's condition with the L assumed, ${helps.length > 1 ? "any one of these" : "this"} would do`}
        lines={helps}
      />
      <Listed title="With the L measured, that needs" lines={measured} />
      <Listed
        title="Not enough on their own"
        lines={[...those(answer.advice, false), ...those(answer.advice_measured, false)]}
      />
      <Listed title="Notes" lines={answer.notes} />
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
