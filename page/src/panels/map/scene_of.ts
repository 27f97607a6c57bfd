/** The scene that a map shows at the clock's time, with what is being dragged in its place. */

import { blankState, type ArcState } from "../../arc/arc";
import { densityOf, peaksOf, withPeaks, type Density, type DensityTable } from "../../density/density";
import { cellOf } from "../../geometry/cells";
import type { Point } from "../../geometry/polygon";
import { flattened, nameOfAxis, PLANE, shadowOf, type Axes } from "../../geometry/shadow";
import { regionOf, type Region } from "../../geometry/workspace";
import { paintHeat, type Heat } from "../../map/heat";
import type { Glance, Scene, Stretch } from "../../map/scene";
import type { Theme } from "../../map/theme";
import { fit, type Bounds, type Size, type View } from "../../map/view";
import type { Scenario } from "../../net/api";
import type { Places } from "../../state/edits";
import type { Lane, LanePiece } from "../../state/lane";
import { speedOf } from "../../state/laws";
import type { Session } from "../../state/session";

const FRESH = 0.12; // seconds of looking at it that a ring round an agent lasts

/** What is being dragged and not yet let go. */
export interface Drag {
  agent?: { which: number; place: readonly number[] };
  peaks?: readonly DensityTable[];
  ring?: readonly Point[];
  bounds?: readonly [number, number];
  /** What was seen when it began: a corner must not change the view that it is dragged in. */
  view?: View;
}

export interface Shown {
  readonly scene: Scene;
  readonly density: Density | null;
}

export function boundsOf(region: Region, end: number): Bounds {
  if (region.bounds) return { left: region.bounds[0], right: region.bounds[1], bottom: 0, top: end || 1 };
  const xs = region.ring.map((z) => z[0]);
  const ys = region.ring.map((z) => z[1]);
  if (!xs.length) return { left: 0, right: 1, bottom: 0, top: 1 };
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** Remembers what is dear to make, for one map. */
export class SceneMaker {
  private region: Region | null = null;
  private regionFor: readonly unknown[] = [];
  private shadow: Scene["shadow"] = null;
  private density: Density | null = null;
  private densityFor = "";
  private heat: Heat | null = null;
  private heatFor: readonly unknown[] = [];
  private fitted: View | null = null;
  private fittedFor: readonly unknown[] = [];
  private glance: Glance | null = null;
  private glanceFor: readonly unknown[] = [];

  constructor(private readonly session: Session) {}

  make(lane: Lane | null, size: Size, theme: Theme, drag: Drag): Shown | null {
    const app = this.session.store.get();
    const { clock } = this.session;
    if (!app.scenario) return null;
    const jump = lane ? this.session.jumpOf(lane) : 0;
    const piece = lane?.timeline.pieceAt(clock.t, jump) ?? null;
    const scenario = piece?.scenario ?? app.scenario;
    const { axes } = app;
    const region = this.regionOf(scenario, drag, axes, app.start);
    const shadow = this.shadow;
    const peaks = drag.peaks ?? peaksOf(scenario.density);
    const density = this.densityOf(drag.peaks ? withPeaks(scenario.density, drag.peaks) : scenario.density);
    const end = this.endOf(lane, app.scenario);
    const view = drag.view ?? this.session.view ?? this.fit(region, end, size);
    const glance = piece ? this.glanceOf(piece, jump - piece.jumps, app.selected) : null;
    const whole = this.stateOf(lane, jump, app.start, drag);
    const state = shadow ? flattened(whole, shadow.axes) : whole;
    const scene: Scene = {
      region,
      shadow,
      state,
      heat: region.dimension === 2 && !shadow && density ? this.heatOf(density, region, theme) : null,
      peaks,
      stretches: lane ? stretchesOf(lane, clock.t, jump) : [],
      glance,
      fresh: piece ? (clock.playing ? FRESH * clock.speed : 0) : -1,
      latest: piece && !clock.playing ? latestOf(piece, jump - piece.jumps) : -1,
      looks: !piece || everLooks(piece),
      scaled: !lane || lane === app.lanes[0],
      running: piece !== null,
      time: clock.t,
      end,
      tool: app.tool,
      selected: app.selected,
      selectedPeak: app.selectedPeak,
      selectedCorner: app.selectedCorner,
      hovered: app.hovered,
      speed: speedOf(scenario.controller),
      draft: app.drawing,
      layers: app.layers,
      view,
      size,
      theme,
    };
    return { scene, density };
  }

  private endOf(lane: Lane | null, scenario: Scenario): number {
    return lane && lane.timeline.end > 0 ? lane.timeline.end : scenario.run.horizon;
  }

  private regionOf(scenario: Scenario, { ring, bounds }: Drag, axes: Axes, places: Places): Region {
    if (ring) return { dimension: 2, ring, bounds: null, editable: true };
    if (bounds) return { dimension: 1, ring: [], bounds, editable: true };
    const { workspace } = scenario;
    if (this.regionFor[0] !== workspace || this.regionFor[1] !== axes || !this.region) {
      this.regionFor = [workspace, axes];
      this.region = regionOf(workspace);
      const { dimension } = this.region;
      this.shadow = null;
      if (dimension > 2) {
        const seen = axes[1] < dimension ? axes : PLANE;
        this.shadow = { axes: seen, names: [nameOfAxis(seen[0], dimension), nameOfAxis(seen[1], dimension)] };
        this.region = shadowOf(workspace, places, seen);
      }
    }
    return this.region;
  }

  private densityOf(table: DensityTable | undefined): Density | null {
    const key = JSON.stringify(table ?? null);
    if (key !== this.densityFor) {
      this.densityFor = key;
      this.density = densityOf(table);
    }
    return this.density;
  }

  private heatOf(density: Density, region: Region, theme: Theme): Heat {
    const key = [density, region, theme];
    if (!this.heat || key.some((one, k) => one !== this.heatFor[k])) {
      this.heatFor = key;
      this.heat = paintHeat(density, boundsOf(region, 0), theme);
    }
    return this.heat;
  }

  private fit(region: Region, end: number, size: Size): View {
    const key = [region, end, size.width, size.height];
    if (!this.fitted || key.some((one, k) => one !== this.fittedFor[k])) {
      this.fittedFor = key;
      this.fitted = fit(boundsOf(region, end), size, region.dimension === 2);
    }
    return this.fitted;
  }

  private stateOf(lane: Lane | null, jump: number, start: readonly (readonly number[])[], drag: Drag): ArcState {
    const state = lane?.stateAt(this.session.clock.t, jump) ?? resting(start);
    const at = drag.agent;
    if (at && at.which < state.agents)
      for (let i = 0; i < state.dimension; i++) state.positions[at.which * state.dimension + i] = at.place[i];
    return state;
  }

  /** What was seen at the last look; while time runs, at that of the chosen agent. */
  private glanceOf(piece: LanePiece, jump: number, selected: number): Glance | null {
    const { arc } = piece;
    const { playing } = this.session.clock;
    if (arc.dimension > 2 || jump < 1) return null;
    const row = playing ? (selected >= 0 && selected < arc.agents ? arc.rowsAfter(jump)[selected] : -1) : jump - 1;
    if (row < 0 || (arc.events.looked && !arc.events.looked[row])) return null;
    if (this.glanceFor[0] !== arc || this.glanceFor[1] !== row) {
      this.glanceFor = [arc, row];
      this.glance = seen(piece, row);
    }
    return this.glance;
  }
}

const latestOf = ({ arc }: LanePiece, jump: number): number => (jump < 1 ? -1 : arc.events.agent[jump - 1]);

const everLooks = ({ arc: { events } }: LanePiece): boolean => !events.looked || !events.count || events.looks[events.count] > 0;

function seen(piece: LanePiece, row: number): Glance {
  const { arc, region, offset } = piece;
  const { events, dimension: n } = arc;
  const agent = events.agent[row];
  const place = Array.from(events.positions.subarray(row * n, row * n + n));
  const centroid = place.map((x, i) => x + events.errors[row * n + i]);
  const { positions } = arc.stateAt(events.time[row], row + 1);
  const cell = n === 2 ? cellOf(region.ring, positions, agent) : stretchOf(region, positions, agent);
  return { agent, time: offset + events.time[row], place, centroid, cell };
}

/** On a line, both ends of a cell. */
function stretchOf(region: Region, positions: Float64Array, agent: number): Float64Array {
  const [low, high] = region.bounds ?? [0, 1];
  const x = positions[agent];
  let left = low;
  let right = high;
  for (const other of positions) {
    if (other < x) left = Math.max(left, (x + other) / 2);
    if (other > x) right = Math.min(right, (x + other) / 2);
  }
  return Float64Array.of(left, right);
}

function stretchesOf(lane: Lane, t: number, jump: number): Stretch[] {
  const { pieces } = lane.timeline;
  const here = lane.timeline.pieceAt(t, jump);
  const found: Stretch[] = [];
  for (const [k, piece] of pieces.entries()) {
    const last = piece === here;
    const until = last ? jump : pieces[k + 1].jumps;
    found.push({ arc: piece.arc, jumps: Math.max(0, until - piece.jumps), offset: piece.offset });
    if (last) break;
  }
  return found;
}

/** Everybody at rest where they start. */
function resting(start: readonly (readonly number[])[]): ArcState {
  const state = blankState(start.length, start[0]?.length ?? 2);
  start.forEach((place, p) => place.forEach((x, i) => (state.positions[p * state.dimension + i] = x)));
  state.targets.set(state.positions);
  return state;
}
