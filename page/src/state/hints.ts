/** Hints: what can be done now on the map, for each tool. */

import type { Tool } from "../map/scene";

export interface Doing {
  readonly touchable: boolean; // whether things can be moved on the map
  readonly underWay: boolean; // whether a run is shown, after its beginning
  readonly clock: { readonly playing: boolean };
}

const MOVES: Record<Tool, string> = {
  agents: "Drag an agent",
  peaks: "Drag a peak of the density, its dot (width) or its diamond (weight)",
  workspace: "Drag a vertex of the workspace, or draw a new one",
  paint: "Paint the density with the brush",
};

const SPACE = "Press Run. Drag space to turn it; changes are made under Scenario.";

/** One sentence about the tool, and how to go on. */
export function hintOf(tool: Tool, { touchable, underWay, clock }: Doing): string {
  if (!touchable) return SPACE;
  if (!underWay) return `${MOVES[tool]} to change the start, or press Run.`;
  return `${MOVES[tool]} to change the run from here on${clock.playing ? "" : ", or press Play"}.`;
}
