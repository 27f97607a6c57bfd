/** Units: metres and seconds at a site; elsewhere they are open. */

import type { Scenario } from "../net/api";
import type { Lane } from "../state/lane";

/** "m" at a site, where times are in seconds; else empty. */
export function unitOf(scenario: Scenario | null, lane: Lane | null = null): string {
  const units = lane?.summary?.["units"] as { length?: string } | undefined; // of a stored run
  return scenario?.site ? "m" : (units?.length ?? "");
}
