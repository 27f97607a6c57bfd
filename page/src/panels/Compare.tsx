/** Two or three laws from the same start. */

import { useEffect, useState } from "preact/hooks";
import type { Law } from "../net/api";
import { LAWS, lawLike, MOST_LAWS, nameOf, paceOf, waitAtSite } from "../state/laws";
import { lawInWords, mismatches } from "../state/matching";
import { aboutLaw } from "../state/keys";
import { useApp, useSession } from "./context";

export function Compare() {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const lanes = useApp((app) => app.lanes);
  const own = scenario?.controller.kind ?? "timer";
  const [chosen, choose] = useState<readonly string[]>([]);
  useEffect(
    () => choose(lanes.length > 1 ? [...new Set(lanes.map((lane) => lane.kind))] : [own]),
    [lanes, own],
  );
  if (!scenario) return null;
  const toggle = (kind: string): void =>
    choose(chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind]);
  const laws = [own, ...chosen.filter((kind) => kind !== own)].map((kind) => ({
    name: nameOf(kind),
    law: lawLike(kind, scenario.controller, waitAtSite(scenario)),
  }));
  const full = chosen.length >= MOST_LAWS;
  return (
    <div class="compare">
      <p>
        Two or three laws from the same start, with the same seed, on one clock. Each obtains only the
        measurements and messages that its own paper assumes.
      </p>
      <fieldset>
        <legend>Laws</legend>
        {LAWS.map((law) => (
          <label key={law.kind} class="check law">
            <input
              type="checkbox"
              checked={chosen.includes(law.kind)}
              disabled={full && !chosen.includes(law.kind)}
              onChange={() => toggle(law.kind)}
            />
            <span>
              <b>{law.name}</b> {aboutLaw(law.kind)}
              <span class="dim">
                {lawInWords(lawLike(law.kind, scenario.controller, waitAtSite(scenario)))}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <p class="row">
        <button
          class="plain strong"
          disabled={chosen.length < 2}
          onClick={() => void session.compare(chosen)}
        >
          Side by side
        </button>
        <button class="plain" disabled={lanes.length < 2} onClick={() => void session.compare([own])}>
          Only {nameOf(own)}
        </button>
        {chosen.length < 2 && <span class="dim">Tick one or two more laws.</span>}
      </p>
      <p class="dim">
        The other laws are matched to {nameOf(own)}, as by <code>dwell compare</code>
        {matched(scenario.controller)}. The largest speed that occurred is shown below each map. What a key
        means stands under Scenario, when its law is chosen there.
      </p>
      {mismatches(laws).map((note) => (
        <p key={note} role="note">
          {note}
        </p>
      ))}
    </div>
  );
}

/** What the laws have in common, with numbers. */
function matched(own: Law): string {
  const [speed, gain] = paceOf(own);
  const found = [
    speed === null ? "" : `the same largest speed, ${speed}`,
    gain === null ? "" : `the same speed per distance near the centroid, ${gain}`,
  ].filter(Boolean);
  return found.length ? `: ${found.join(", and ")}` : "";
}
