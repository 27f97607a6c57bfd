/** Two or three laws from the same start. */

import { useEffect, useState } from "preact/hooks";
import type { Law } from "../net/api";
import { LAWS, lawLike, MOST_LAWS, nameOf } from "../state/laws";
import { useApp, useSession } from "./context";

export function Compare() {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const lanes = useApp((app) => app.lanes);
  const own = scenario?.controller.kind ?? "timer";
  const [chosen, choose] = useState<readonly string[]>([]);
  useEffect(() => choose(lanes.length > 1 ? lanes.map((lane) => lane.kind) : [own]), [lanes, own]);
  if (!scenario) return null;
  const toggle = (kind: string): void =>
    choose(chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind]);
  const full = chosen.length >= MOST_LAWS;
  return (
    <div class="compare">
      <p>
        Two or three laws from the same start, with the same seed, on one clock. Each is told only what its
        own paper lets it know.
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
              <b>{law.name}</b> {law.about}
              <span class="dim">{said(lawLike(law.kind, scenario.controller))}</span>
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
      </p>
      <p class="dim">
        Numbers of the other laws are matched to those of this scenario: the same speed, and the same speed
        per distance near the centroid.
      </p>
    </div>
  );
}

/** The numbers of a law in one line. */
function said(law: Law): string {
  return Object.entries(law)
    .filter(([key, value]) => key !== "kind" && (typeof value === "number" || typeof value === "string"))
    .map(([key, value]) => `${key} = ${String(value)}`)
    .join(", ");
}
