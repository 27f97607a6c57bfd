/** Everything in the scenario, as forms and as text. */

import { useEffect, useState } from "preact/hooks";
import { peaksOf, type DensityTable } from "../../density/density";
import { regionOf } from "../../geometry/workspace";
import { asText, parse, type Law, type Scenario } from "../../net/api";
import { LAWS, lawLike } from "../../state/laws";
import { useApp, useSession } from "../context";
import { fieldsOf, type Field } from "./schema";

export function ScenarioPanel() {
  const scenario = useApp((app) => app.scenario);
  if (!scenario) return null;
  return (
    <div class="scenario">
      <General scenario={scenario} />
      <LawForm scenario={scenario} />
      <AgentsForm scenario={scenario} />
      <PeaksForm scenario={scenario} />
      <Text scenario={scenario} />
    </div>
  );
}

type Answer = Promise<boolean> | boolean | void; // false: it was refused

function NumberField({ name, value, about, change }: { name: string; value: unknown; about?: string; change: (value: number | null) => Answer }) {
  const shown = typeof value === "number" ? String(value) : "";
  const changed = async (input: HTMLInputElement): Promise<void> => {
    // What was refused is not how it is; the sentence under the map says why.
    if ((await change(input.value === "" ? null : Number(input.value))) === false) input.value = shown;
  };
  return (
    <label class="field" title={about}>
      <span>{name}</span>
      <input
        type="number"
        step="any"
        class="number"
        value={shown}
        placeholder={Array.isArray(value) ? "one per agent" : "none"}
        onChange={(e) => void changed(e.currentTarget)}
      />
    </label>
  );
}

function General({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const { run } = scenario;
  return (
    <fieldset>
      <legend>Run</legend>
      <label class="field">
        <span>name</span>
        <input type="text" value={scenario.name ?? ""} onChange={(e) => void session.change({ ...scenario, name: e.currentTarget.value || undefined })} />
      </label>
      <NumberField name="horizon" about="the time at which the run ends" value={run.horizon} change={(v) => v !== null && session.change({ ...scenario, run: { ...run, horizon: v } })} />
      <NumberField name="seed" about="of all chance in the run" value={run.seed} change={(v) => session.change({ ...scenario, run: { ...run, seed: v ?? undefined } })} />
    </fieldset>
  );
}

function LawForm({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const law = scenario.controller;
  const [fields, setFields] = useState<readonly Field[]>([]);
  useEffect(() => {
    let over = false;
    fieldsOf(law.kind)
      .then((found) => !over && setFields(found))
      .catch((error: unknown) => session.fail(error));
    return () => {
      over = true;
    };
  }, [law.kind]);
  const put = (key: string, value: unknown): Promise<boolean> => {
    const next: Law = { ...law, [key]: value };
    if (value === null || value === "") delete next[key];
    return session.setLaw(next);
  };
  return (
    <fieldset>
      <legend>Law</legend>
      <label class="field">
        <span>kind</span>
        <select value={law.kind} onChange={(e) => void session.setLaw(lawLike(e.currentTarget.value, law))}>
          {LAWS.map((one) => (
            <option key={one.kind} value={one.kind}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      {fields.map((field) =>
        field.choices ? (
          <label key={field.key} class="field" title={field.about}>
            <span>{field.key}</span>
            <select value={String(law[field.key] ?? field.fallback ?? "")} onChange={(e) => void put(field.key, chosen(field, e.currentTarget.value))}>
              {field.fallback === null && <option value="">as the preset says</option>}
              {field.choices.map((one) => (
                <option key={one} value={String(one)}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <NumberField key={field.key} name={field.key} about={field.about} value={law[field.key] ?? field.fallback} change={(v) => put(field.key, v)} />
        ),
      )}
    </fieldset>
  );
}

const chosen = (field: Field, text: string): unknown => field.choices?.find((one) => String(one) === text) ?? null;

function AgentsForm({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const start = useApp((app) => app.start);
  const [count, setCount] = useState(start.length);
  const [seed, setSeed] = useState(1);
  useEffect(() => setCount(start.length), [start.length]);
  const scatter = (): void => {
    const { ids: _, ...agents } = scenario.agents;
    void session.change({ ...scenario, agents: { ...agents, start: { count, region: "workspace", seed } } });
  };
  return (
    <fieldset>
      <legend>Agents</legend>
      <NumberField name="count" value={count} change={(v) => setCount(Math.max(1, Math.round(v ?? 1)))} />
      <NumberField name="seed of the start" value={seed} change={(v) => setSeed(Math.max(0, Math.round(v ?? 0)))} />
      <p class="row">
        <button class="plain" onClick={scatter}>
          Scatter over the workspace
        </button>
      </p>
    </fieldset>
  );
}

function PeaksForm({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const n = regionOf(scenario.workspace).dimension;
  const peaks = peaksOf(scenario.density);
  const put = (which: number, patch: Partial<DensityTable>): Promise<boolean> =>
    session.hands.setPeaks(peaks.map((peak, k) => (k === which ? { ...peak, ...patch } : peak)));
  return (
    <fieldset>
      <legend>Density: {scenario.density?.kind ?? "uniform"}</legend>
      {peaks.map((peak, k) => (
        <div key={k} class="peak" role="group" aria-label={`Peak ${k + 1}`}>
          {Array.from({ length: n }, (_, i) => (
            <NumberField key={i} name={["x", "y", "z"][i] ?? `x${i + 1}`} value={peak.center?.[i]} change={(v) => v !== null && put(k, { center: (peak.center ?? []).map((old, j) => (j === i ? v : old)) })} />
          ))}
          {!peak.covariance && <NumberField name="rate" about="how fast it falls" value={peak.rate} change={(v) => v !== null && put(k, { rate: v })} />}
          <NumberField name="weight" value={peak.weight ?? 1} change={(v) => v !== null && put(k, { weight: v })} />
          <button class="plain" onClick={() => void session.hands.removePeak(k)} aria-label={`Remove peak ${k + 1}`}>
            Remove
          </button>
        </div>
      ))}
      {!peaks.length && <p class="dim">No peaks; every place counts as the density says.</p>}
    </fieldset>
  );
}

/** The whole scenario as TOML, to be read, changed and applied. */
function Text({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const [text, setText] = useState("");
  useEffect(() => {
    let over = false;
    asText(scenario)
      .then((found) => !over && setText(found))
      .catch((error: unknown) => !over && session.fail(error));
    return () => {
      over = true;
    };
  }, [scenario]);
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
      <textarea aria-label="The scenario as TOML" spellcheck={false} rows={22} value={text} onInput={(e) => setText(e.currentTarget.value)} />
      <p class="row">
        <button class="plain strong" onClick={() => void apply()}>
          Apply
        </button>
      </p>
    </details>
  );
}
