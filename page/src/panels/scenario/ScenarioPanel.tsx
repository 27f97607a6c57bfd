/** Everything in the scenario, as forms and as text. */

import { useEffect, useState } from "preact/hooks";
import { asText, parse, type Scenario } from "../../net/api";
import type { Spot } from "../../state/forms";
import { isTrack } from "../../world/tracks";
import { listed, switchInWords } from "../../world/words";
import { useApp, useSession } from "../context";
import { Field, number, numberOrNone, words } from "../Entry";
import { AgentsForm } from "./AgentsForm";
import { LawForm } from "./LawForm";
import { Moves } from "./Moves";
import { PeaksForm } from "./PeaksForm";

export function ScenarioPanel() {
  const scenario = useApp((app) => app.scenario);
  if (!scenario) return null;
  return (
    <div class="scenario">
      <General />
      <LawForm scenario={scenario} />
      <AgentsForm scenario={scenario} />
      {(scenario.sensor?.map((_, k) => k) ?? [null]).map((sensor) => (
        <PeaksForm key={sensor} scenario={scenario} sensor={sensor} />
      ))}
      <WorldForm scenario={scenario} />
      <Text scenario={scenario} />
    </div>
  );
}

const NAME: Spot = {
  key: "name",
  name: "name",
  panel: "scenario",
  parse: words,
  read: (s) => s.name,
  write: (s, value) => ({ ...s, name: (value as string | null) ?? undefined }),
};

const ofRun = (key: "horizon" | "seed", parse: Spot["parse"]): Spot => ({
  key: `run.${key}`,
  name: key,
  panel: "scenario",
  parse,
  read: (s) => s.run[key],
  write: (s, value) => ({ ...s, run: { ...s.run, [key]: value ?? undefined } }),
});
const HORIZON = ofRun("horizon", number);
const SEED = ofRun("seed", numberOrNone);

function General() {
  return (
    <fieldset>
      <legend>Run</legend>
      <Field spot={NAME} />
      <Field spot={HORIZON} about="the time at which the run ends" />
      <Field spot={SEED} about="of all chance in the run" />
    </fieldset>
  );
}

/** What changes over time, to be read; it is changed as text. */
function WorldForm({ scenario }: { scenario: Scenario }) {
  const { world = [], sensor = [], workspace } = scenario;
  const vertices = workspace["vertices"];
  if (!world.length && !sensor.length && !isTrack(vertices)) return null;
  const owners = (name: string): number[] =>
    (scenario.agents.sensors ?? []).flatMap((own, p) => (own.includes(name) ? [p] : []));
  return (
    <fieldset>
      <legend>World</legend>
      {isTrack(vertices) && <Moves name="workspace" track={vertices} />}
      <ul class="switches">
        {world.map((one) => (
          <li key={one.from}>
            <b>from t = {one.from}</b> {switchInWords(one)}
          </li>
        ))}
        {sensor.map(({ name }) => (
          <li key={name}>
            <b>{name}</b> sensor of agent{owners(name).length > 1 ? "s" : ""} {listed(owners(name))}
          </li>
        ))}
      </ul>
      <p class="dim">These are changed as text, below.</p>
    </fieldset>
  );
}

/** The whole scenario as TOML, to be read, changed and applied. */
function Text({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const [text, setText] = useState("");
  const [own, setOwn] = useState(""); // what the scenario itself would be
  useEffect(() => {
    let over = false;
    asText(scenario)
      .then((found) => {
        if (over) return;
        setText(found);
        setOwn(found);
      })
      .catch((error: unknown) => !over && session.fail(error));
    return () => {
      over = true;
    };
  }, [scenario, session]);
  const apply = async (): Promise<void> => {
    try {
      const next = await parse(text);
      if (await session.change(next)) session.say("The text is applied.");
    } catch (error) {
      session.fail(error);
    }
  };
  return (
    <details class="text">
      <summary>As text (TOML)</summary>
      <textarea
        aria-label="The scenario as TOML"
        spellcheck={false}
        rows={22}
        value={text}
        onInput={(e) => setText(e.currentTarget.value)}
      />
      <p class="row">
        <button class="plain strong" onClick={() => void apply()}>
          Apply
        </button>
        {text !== own && <span class="dim">Changed, and not applied yet.</span>}
      </p>
    </details>
  );
}
