/** How far along its segment an agent is: it cruises, and then may slow down and come to rest. */

/**
 * For how long, at the velocity it began with, a segment would have had to go to be where it is.
 * The velocity is held for a time `cruise` and then decays like exp(-fade t); with an infinite
 * `fade` the agent stops there and then.
 */
export function secondsUsed(dt: number, cruise: number, fade: number): number {
  if (dt <= cruise) return dt;
  if (fade === Infinity) return cruise;
  return cruise + (1 - Math.exp(-fade * (dt - cruise))) / fade;
}

/** The share of its first velocity that a segment still has. */
export function speedLeft(dt: number, cruise: number, fade: number): number {
  if (dt <= cruise) return 1;
  return fade === Infinity ? 0 : Math.exp(-fade * (dt - cruise));
}
