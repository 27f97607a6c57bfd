/** Everything in the scenario, as forms and as text. */

import { useEffect, useState } from "preact/hooks";
import { regionOf } from "../../geometry/workspace";
import { asText, parse, type Law, type Scenario } from "../../net/api";
import { hillsAt, withCount, withHills } from "../../state/edits";
import type { Spot } from "../../state/forms";
import { LAWS, lawLike, withLaw } from "../../state/laws";
import { useApp, useSession } from "../context";
import { Field, number, numberOrNone, numbers, words } from "../Entry";
import { applies, withChoice } from "./belongs";
import { keysOf, type LawKey } from "./schema";
import { isTrack, type ChangingPoint } from "../../world/tracks";
import { listed, switchInWords, trackInWords } from "../../world/words";
import type { MovingTable } from "../../world/world";

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

/** The place of a key of a law; under another law it is another place. */
function ofLaw(kind: string, field: LawKey): Spot {
  return {
    key: `controller.${field.key}`,
    name: field.key,
    panel: "scenario",
    parse: field.several ? numbers : field.needed ? number : numberOrNone,
    read: (s) => (s.controller.kind === kind ? (s.controller[field.key] ?? field.fallback) : kind),
    write: (s, value) => {
      const law: Law = { ...s.controller, [field.key]: value };
      if (value === null) delete law[field.key];
      return withLaw(s, law);
    },
  };
}

/** Choose one of some; what is refused is not how it is. */
function Choice({
  name,
  about,
  value,
  options,
  choose,
}: {
  name: string;
  about?: string;
  value: string;
  options: readonly (readonly [string, string])[];
  choose: (value: string) => Promise<boolean>;
}) {
  const changed = async (select: HTMLSelectElement): Promise<void> => {
    if (!(await choose(select.value))) select.value = value;
  };
  return (
    <label class="field" title={about}>
      <span>{name}</span>
      <select value={value} onChange={(e) => void changed(e.currentTarget)}>
        {options.map(([one, says]) => (
          <option key={one} value={one}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}

function LawForm({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const law = scenario.controller;
  const [known, setKnown] = useState<{ kind: string; keys: readonly LawKey[] }>({ kind: "", keys: [] });
  useEffect(() => {
    let over = false;
    keysOf(law.kind)
      .then((keys) => !over && setKnown({ kind: law.kind, keys }))
      .catch((error: unknown) => session.fail(error));
    return () => {
      over = true;
    };
  }, [law.kind, session]);
  const fallbacks = new Map(known.keys.map((one) => [one.key, one.fallback]));
  const shown = known.kind === law.kind ? known.keys.filter((one) => applies(law, one.key, fallbacks)) : [];
  return (
    <fieldset>
      <legend>Law</legend>
      <Choice
        name="kind"
        value={law.kind}
        options={LAWS.map((one) => [one.kind, one.name] as const)}
        choose={(kind) => session.forms.change((s) => withLaw(s, lawLike(kind, s.controller)))}
      />
      {shown.map((field) =>
        field.choices ? (
          <Choice
            key={field.key}
            name={field.key}
            about={field.about}
            value={String(law[field.key] ?? field.fallback ?? "")}
            options={[
              ...(field.fallback === null ? [["", "as the preset says"] as const] : []),
              ...field.choices.map((one) => [String(one), String(one)] as const),
            ]}
            choose={(text) =>
              session.forms.change((s) => withLaw(s, withChoice(s, field.key, chosen(field, text))))
            }
          />
        ) : (
          <Field key={`${law.kind} ${field.key}`} spot={ofLaw(law.kind, field)} about={field.about} />
        ),
      )}
    </fieldset>
  );
}

const chosen = (field: LawKey, text: string): unknown =>
  field.choices?.find((one) => String(one) === text) ?? null;

type Scattered = { count: number } & Record<string, unknown>;

const scatteredIn = (s: Scenario): Scattered | null =>
  Array.isArray(s.agents.start) ? null : s.agents.start;

/** Agents that are scattered anew; ids belong to those that were there. */
function scattering(whole: Scenario, change: Record<string, unknown>): Scenario {
  const before = scatteredIn(whole) ?? {
    count: (whole.agents.start as unknown[]).length,
    region: "workspace",
    seed: 1,
  };
  const start = { ...before, ...change } as Scattered;
  const s = start.count === before.count ? whole : withCount(whole, start.count);
  const { ids: _, ...agents } = s.agents;
  return { ...s, agents: { ...agents, start } };
}

const COUNT: Spot = {
  key: "agents.start.count",
  name: "count",
  panel: "scenario",
  parse: number,
  read: (s) => scatteredIn(s)?.count ?? (s.agents.start as unknown[]).length,
  write: (s, count) => scattering(s, { count }),
};
const START_SEED: Spot = {
  key: "agents.start.seed",
  name: "seed of the start",
  panel: "scenario",
  parse: number,
  read: (s) => scatteredIn(s) && (scatteredIn(s)?.["seed"] ?? 0),
  write: (s, seed) => scattering(s, { seed }),
};

const RADIUS: Spot = {
  key: "agents.radius",
  name: "sensing radius",
  panel: "scenario",
  empty: "unlimited",
  parse: numberOrNone,
  read: (s) => s.agents.radius,
  write: (s, value) => {
    const { radius: _, ...agents } = s.agents;
    return { ...s, agents: value === null ? agents : { ...agents, radius: value as number } };
  },
};

const SOME = 8; // radii that are all listed

const radiiInWords = (radii: readonly number[]): string =>
  radii.length > SOME ? `from ${Math.min(...radii)} to ${Math.max(...radii)}` : radii.join(", ");

function AgentsForm({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const scattered = scatteredIn(scenario);
  const next = Number(scattered?.["seed"] ?? 0) + 1;
  return (
    <fieldset>
      <legend>Agents</legend>
      <Field spot={COUNT} about="how many; another number scatters them anew" />
      <Field spot={START_SEED} about="of where they are scattered; another one scatters them anew" />
      {Array.isArray(scenario.agents.radius) ? (
        <p class="moves">
          <span>{RADIUS.name}</span>{" "}
          <span class="dim">one per agent: {radiiInWords(scenario.agents.radius)}</span>
        </p>
      ) : (
        <Field spot={RADIUS} about="how far agents sense; empty: unlimited" />
      )}
      {!scattered && (
        <p class="dim">
          They start where they were put. Another count or seed scatters them anew; Ctrl Z takes that back.
        </p>
      )}
      {scenario.world?.some((one) => one.leave?.length || one.arrive?.length) && (
        <p class="dim">At the start; some leave or arrive later, see World.</p>
      )}
      <p class="row">
        <button
          class="plain"
          onClick={() => void session.forms.change((s) => scattering(s, { region: "workspace", seed: next }))}
        >
          Scatter over the workspace
        </button>
      </p>
    </fieldset>
  );
}

/** The hills at the beginning, of a sensor or of the only density. */
const peaksIn = (s: Scenario, sensor: number | null): MovingTable[] => hillsAt(s, 0, sensor);

/** The place of a number of a peak, among so many; if there are more or fewer it is another place. */
function ofPeak(
  sensor: number | null,
  which: number,
  count: number,
  name: string,
  read: (peak: MovingTable) => unknown,
  change: (peak: MovingTable, value: number) => MovingTable,
): Spot {
  return {
    key: `${sensor === null ? "" : `sensor${sensor}.`}density.peak${which}.${name}`,
    name,
    panel: "scenario",
    parse: number,
    read: (s) => {
      const peaks = peaksIn(s, sensor);
      return peaks.length === count ? read(peaks[which]) : `${peaks.length} peaks`;
    },
    write: (s, value) =>
      withHills(
        s,
        peaksIn(s, sensor).map((peak, k) => (k === which ? change(peak, value as number) : peak)),
        0,
        sensor,
      ),
  };
}

function PeaksForm({ scenario, sensor }: { scenario: Scenario; sensor: number | null }) {
  const session = useSession();
  const n = regionOf(scenario.workspace).dimension;
  const peaks = peaksIn(scenario, sensor);
  const count = peaks.length;
  const own = sensor === null ? scenario.density : scenario.sensor?.[sensor].density;
  const coordinate = (center: ChangingPoint | undefined, i: number): unknown =>
    isTrack(center) ? "" : center?.[i];
  const placed = (center: ChangingPoint | undefined, i: number, v: number): ChangingPoint | undefined =>
    isTrack(center) ? center : (center ?? []).map((old, j) => (j === i ? v : old));
  const place = (which: number, i: number): Spot =>
    ofPeak(
      sensor,
      which,
      count,
      ["x", "y", "z"][i] ?? `x${i + 1}`,
      (peak) => coordinate(peak.center, i),
      (peak, v) => ({ ...peak, center: placed(peak.center, i, v) }),
    );
  const remove = (which: number): Promise<boolean> =>
    session.forms.change((s) =>
      withHills(
        s,
        peaksIn(s, sensor).filter((_, k) => k !== which),
        0,
        sensor,
      ),
    );
  return (
    <fieldset>
      <legend>
        Density{sensor === null ? "" : ` of ${scenario.sensor?.[sensor].name}`}: {own?.kind ?? "uniform"}
      </legend>
      {peaks.map((peak, k) => (
        <div key={k} class="peak" role="group" aria-label={`Peak ${k + 1}`}>
          {isTrack(peak.center) ? (
            <Moves name="center" track={peak.center} />
          ) : (
            Array.from({ length: n }, (_, i) => <Field key={i} spot={place(k, i)} />)
          )}
          {isTrack(peak.covariance) && <Moves name="covariance" track={peak.covariance} />}
          {isTrack(peak.rate) && <Moves name="rate" track={peak.rate} />}
          {!peak.covariance && !isTrack(peak.rate) && (
            <Field
              spot={ofPeak(
                sensor,
                k,
                count,
                "rate",
                (one) => one.rate,
                (one, rate) => ({ ...one, rate }),
              )}
              about="how fast it falls"
            />
          )}
          {isTrack(peak.weight) ? (
            <Moves name="weight" track={peak.weight} />
          ) : (
            <Field
              spot={ofPeak(
                sensor,
                k,
                count,
                "weight",
                (one) => one.weight ?? 1,
                (one, weight) => ({ ...one, weight }),
              )}
            />
          )}
          <button class="plain" onClick={() => void remove(k)} aria-label={`Remove peak ${k + 1}`}>
            Remove
          </button>
        </div>
      ))}
      {!peaks.length && <p class="dim">No peaks; every place counts as the density says.</p>}
    </fieldset>
  );
}

/** A parameter that changes over time, in the place of its field. */
function Moves({ name, track }: { name: string; track: unknown }) {
  return (
    <p class="moves">
      <span>{name}</span> <span class="dim">changes over time: {trackInWords(track)}</span>
    </p>
  );
}

/** What changes over time, to be read; it is changed as text. */
function WorldForm({ scenario }: { scenario: Scenario }) {
  const { world = [], sensor = [], workspace } = scenario;
  const walls = workspace["vertices"];
  if (!world.length && !sensor.length && !isTrack(walls)) return null;
  const owners = (name: string): number[] =>
    (scenario.agents.sensors ?? []).flatMap((own, p) => (own.includes(name) ? [p] : []));
  return (
    <fieldset>
      <legend>World</legend>
      {isTrack(walls) && <Moves name="workspace" track={walls} />}
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
