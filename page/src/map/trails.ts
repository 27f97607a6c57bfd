/** Paths of agents so far. Segments are straight, so a path goes from event to event. */

import type { Arc, ArcState } from "../arc/arc";
import { PLANE, type Axes } from "../geometry/shadow";
import type { Pen } from "./pen";
import type { Scene, Stretch } from "./scene";
import { colourOf } from "./theme";
import { toX, toY } from "./view";

const AT_ONCE = 6000; // segments of one call; of more events some are passed over

const inkOf = (
  { state, theme }: Scene,
  colour: number,
): { colour: string; width: number; alpha: number } => ({
  colour: colourOf(theme, colour),
  width: 1.1,
  alpha: state.agents > 200 ? 0.35 : 0.6,
});

/** Where an event stands on the map: the place of an agent; on a line, at its time. */
class Places {
  private readonly axes: Axes;

  constructor(
    private readonly scene: Scene,
    private readonly stretch: Stretch,
  ) {
    this.axes = scene.shadow?.axes ?? PLANE;
  }

  private at(x: number, y: number): [number, number] {
    const { view, size } = this.scene;
    return [toX(view, size, x), toY(view, size, y)];
  }

  /** At an event; before the first one of an agent, where it starts. */
  of(row: number, agent: number): [number, number] {
    const { arc, offset } = this.stretch;
    const { events, dimension: n, start, lives } = arc;
    const [a, b] = this.axes;
    const { space } = this.scene;
    if (space)
      return this.at(
        ...space.project(row < 0 ? start.positions[agent] : events.positions.subarray(n * row, n * row + n)),
      );
    if (row < 0) {
      const place = start.positions[agent];
      return this.at(place[a], n === 1 ? offset + (lives?.arrivals[agent] ?? 0) : place[b]);
    }
    const y = n === 1 ? offset + events.time[row] : events.positions[n * row + b];
    return this.at(events.positions[n * row + a], y);
  }

  /** In a state of the arc; `flat` if that has only the axes that are seen. */
  now(state: ArcState, agent: number, flat: boolean): [number, number] {
    const n = state.dimension;
    const { space } = this.scene;
    if (space) return this.at(...space.project(state.positions.subarray(n * agent, n * agent + n)));
    const [a, b] = flat ? PLANE : this.axes;
    const y = n === 1 ? this.stretch.offset + state.time : state.positions[n * agent + b];
    return this.at(state.positions[n * agent + a], y);
  }
}

/** The paths between two jumps of a stretch, in one stroke per colour. */
export function drawTrails(pen: Pen, scene: Scene, stretch: Stretch, from: number, to: number): void {
  const { arc } = stretch;
  const places = new Places(scene, stretch);
  const stride = Math.ceil((to - from) / AT_ONCE);
  const colours = Math.min(scene.theme.agents.length, arc.agents);
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    segments(pen, arc, places, from, to, stride, (agent) => agent % colours === colour);
    pen.stroke(inkOf(scene, colour));
  }
}

/** From event to event of each agent; with a stride, every so many events and the last one. */
function segments(
  pen: Pen,
  arc: Arc,
  places: Places,
  from: number,
  to: number,
  stride: number,
  wanted: (agent: number) => boolean,
): void {
  const { events } = arc;
  const since = new Int32Array(stride > 1 ? arc.agents : 0); // events passed over
  const last = new Map<number, number>();
  for (let row = from; row < to; row++) {
    const agent = events.agent[row];
    if (!wanted(agent)) continue;
    const before = last.get(agent) ?? events.previous[row];
    if (before < 0 && arc.lives && arc.lives.arrivals[agent] > 0) continue; // it arrives there
    if (stride > 1) {
      if (!last.has(agent)) last.set(agent, before);
      if (++since[agent] < stride) continue;
      since[agent] = 0;
      last.set(agent, row);
    }
    pen.move(...places.of(before, agent));
    pen.line(...places.of(row, agent));
  }
  if (stride > 1) finish(pen, arc, places, from, to, last, since);
}

/** To the last event of each agent whose events were passed over. */
function finish(
  pen: Pen,
  { events }: Arc,
  places: Places,
  from: number,
  to: number,
  last: Map<number, number>,
  since: Int32Array,
): void {
  for (let row = to - 1; row >= from; row--) {
    const agent = events.agent[row];
    const before = last.get(agent);
    if (before === undefined || !since[agent]) continue;
    since[agent] = 0;
    pen.move(...places.of(before, agent));
    pen.line(...places.of(row, agent));
  }
}

/** The piece of each path since the last event, to where the agents are. */
function heads(pen: Pen, scene: Scene, stretch: Stretch, state: ArcState, flat: boolean): void {
  const places = new Places(scene, stretch);
  const colours = Math.min(scene.theme.agents.length, stretch.arc.agents);
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    for (let p = colour; p < stretch.arc.agents; p += colours) {
      if (!state.present[p]) continue;
      const lifted = scene.lifted?.which === p ? scene.lifted.from : null;
      pen.move(...places.of(state.rows[p], p));
      if (!lifted) pen.line(...places.now(state, p, flat));
      else
        pen.line(
          toX(scene.view, scene.size, lifted[0]),
          toY(scene.view, scene.size, lifted[1] ?? scene.time),
        );
    }
    pen.stroke(inkOf(scene, colour));
  }
}

/** The heads of the paths at the present time. */
export const drawHeads = (pen: Pen, scene: Scene, stretch: Stretch): void =>
  heads(pen, scene, stretch, scene.state, true);

/** The ends of the paths of a stretch that another one follows. */
export function drawEnds(pen: Pen, scene: Scene, stretch: Stretch): void {
  const { arc, until, jumps } = stretch;
  heads(pen, { ...scene, lifted: null }, stretch, arc.stateAt(until, jumps), false);
}

/** All paths at once. */
export function drawPaths(pen: Pen, scene: Scene): void {
  const last = scene.stretches.length - 1;
  scene.stretches.forEach((stretch, k) => {
    drawTrails(pen, scene, stretch, 0, stretch.jumps);
    if (k < last) drawEnds(pen, scene, stretch);
  });
}
