/** Parts of a scene that come from a run and its world alone. */

import { blankState, type ArcState } from "../../arc/arc";
import { cellOf, intervalOf, placesOf, rangeAmong } from "../../geometry/cells";
import type { Glance, PeakPath, Scene, Stretch } from "../../map/scene";
import type { Lane, LanePiece } from "../../state/lane";
import { isCircle, isKeyframes, isTrack, valueAt } from "../../world/tracks";
import type { MovingTable, World } from "../../world/world";

const TURN = 60; // corners of a drawn circle

export const latestOf = ({ arc }: LanePiece, jump: number): number =>
  jump < 1 ? -1 : arc.events.agent[jump - 1];

export const everSamples = ({ arc: { events } }: LanePiece): boolean =>
  !events.sampled || !events.count || events.samples[events.count] > 0;

/** The cell of an agent at one of its samples, and the centroid of that. */
export function seen(piece: LanePiece, row: number, scale: number): Glance {
  const { arc, world, offset, radii } = piece;
  const { events, dimension: n } = arc;
  const agent = events.agent[row];
  const place = Array.from(events.positions.subarray(row * n, row * n + n));
  const centroid = place.map((x, i) => x + events.errors[row * n + i]);
  const { positions, present } = arc.stateAt(events.time[row], row + 1);
  const region = world.regionAt(events.time[row]);
  const sensors = world.form.sensors.length ? world.sensorsOf(agent) : [null];
  const [cell, ...others] = sensors.map((sensor) => {
    const members = world.members(present, sensor);
    const places = members ? placesOf(positions, members, n) : positions;
    const own = members ? members.indexOf(agent) : agent;
    const range = rangeAmong(radii && { radii, scale }, members);
    return n === 2
      ? cellOf(region.ring, places, own, range)
      : Float64Array.from(intervalOf(region.bounds ?? [0, 1], places, own, range?.radii));
  });
  return { agent, time: offset + events.time[row], place, centroid, cell, others };
}

/** How a peak of the scenario moves and changes. */
export function pathOf(peak: MovingTable): PeakPath {
  const { center, rate, covariance, weight } = peak;
  const fixed = { fixedWidth: isTrack(rate) || isTrack(covariance), fixedWeight: isTrack(weight) };
  if (isKeyframes(center)) return { ...fixed, along: center.values };
  if (!isCircle(center)) return { ...fixed, along: [] };
  const along = Array.from({ length: TURN + 1 }, (_, k) =>
    valueAt<number[]>(center, (k / TURN) * center.period),
  );
  return { ...fixed, along };
}

/** Both ends of a line, where they change, from the beginning of each phase on. */
export function spansOf(world: World, offset: number): Scene["spans"] {
  const found = world.form.phases.map(({ from }) => ({
    from: offset + from,
    bounds: world.regionAt(from).bounds,
  }));
  return found.length > 1 ? found.filter((one): one is Scene["spans"][number] => one.bounds !== null) : [];
}

/** The parts of a run until (t, j), one after another. */
export function stretchesOf(lane: Lane, t: number, jump: number): Stretch[] {
  const { pieces } = lane.timeline;
  const here = lane.timeline.pieceAt(t, jump);
  const found: Stretch[] = [];
  for (const [k, piece] of pieces.entries()) {
    const last = piece === here;
    const next = last ? null : pieces[k + 1];
    found.push({
      arc: piece.arc,
      jumps: Math.max(0, (next?.jumps ?? jump) - piece.jumps),
      offset: piece.offset,
      until: (next?.offset ?? Infinity) - piece.offset,
    });
    if (last) break;
  }
  return found;
}

/** All agents at rest where they start. */
export function resting(start: readonly (readonly number[])[]): ArcState {
  const state = blankState(start.length, start[0]?.length ?? 2);
  start.forEach((place, p) => place.forEach((x, i) => (state.positions[p * state.dimension + i] = x)));
  state.targets.set(state.positions);
  return state;
}
