/** The agents of a scenario, as a form: how many, where they are scattered, how far they sense. */

import type { Scenario } from "../../net/api";
import { withCount } from "../../state/edits";
import type { Spot } from "../../state/forms";
import { MORE } from "../../state/keys";
import { useSession } from "../context";
import { Field, number, numberOrNone } from "../Entry";

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

export function AgentsForm({ scenario }: { scenario: Scenario }) {
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
        <Field spot={RADIUS} about={MORE.keys[RADIUS.key].about} />
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
