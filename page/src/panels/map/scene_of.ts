/** The scene that a map shows at the clock's time, with what is being dragged in its place. */

import type { ArcState } from "../../arc/arc";
import { densityOf, peaksOf, withPeaks, type Density, type DensityTable } from "../../density/density";
import { isRaster, type RasterTable } from "../../density/raster";
import type { Point } from "../../geometry/polygon";
import type { Part } from "../../geometry/rings";
import { flattened, nameOfAxis, PLANE, shadowOf } from "../../geometry/shadow";
import { regionOfParts, widthOf, type Region } from "../../geometry/workspace";
import { largestOf, paintHeat, type Heat } from "../../map/heat";
import { isSame, Memo } from "../../map/memo";
import type { Glance, Scene, Tool } from "../../map/scene";
import type { Theme } from "../../map/theme";
import { fit, type Bounds, type Size, type View } from "../../map/view";
import type { Scenario } from "../../net/api";
import type { AppState } from "../../state/app";
import { unitOf } from "../units";
import type { Lane, LanePiece } from "../../state/lane";
import type { Session } from "../../state/session";
import { speedScale } from "../../state/speed";
import { radiiOf, tableAt, World, worldOf } from "../../world/world";
import { everSamples, latestOf, pathOf, resting, seen, spansOf, stretchesOf } from "./run_parts";
import { lineCode, spaceCode } from "./drawing_code";

const FRESH = 0.6; // seconds on the screen that the ring of a sample lasts
const HEAT_EVERY = 100; // milliseconds between two pictures of a density that changes while time runs

/** What is being dragged and not yet let go. */
export interface Drag {
  agent?: { which: number; place: readonly number[] };
  peaks?: readonly DensityTable[];
  which?: number; // of the peaks
  ring?: readonly Point[];
  parts?: readonly Part[];
  density?: RasterTable;
  bounds?: readonly [number, number];
  /** What was seen when it began: a corner must not change the view that it is dragged in. */
  view?: View;
}

/** The time that a map shows: that of the page's clock, or that of a frame of a film. */
export interface Moment {
  readonly t: number;
  readonly playing: boolean;
  readonly speed: number;
}

export interface Shown {
  readonly scene: Scene;
  readonly density: Density | null;
  readonly table: DensityTable;
}

export function boundsOf(region: Region, end: number): Bounds {
  if (region.bounds) return { left: region.bounds[0], right: region.bounds[1], bottom: 0, top: end || 1 };
  const xs = region.ring.map((z) => z[0]);
  const ys = region.ring.map((z) => z[1]);
  if (!xs.length) return { left: 0, right: 1, bottom: 0, top: 1 };
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** The box that has some regions in it. */
const boundsOfAll = (regions: readonly Region[], end: number): Bounds =>
  around(regions.map((region) => boundsOf(region, end)));

/** The box that has some boxes in it. */
function around(all: readonly Bounds[]): Bounds {
  return {
    left: Math.min(...all.map((one) => one.left)),
    right: Math.max(...all.map((one) => one.right)),
    bottom: Math.min(...all.map((one) => one.bottom)),
    top: Math.max(...all.map((one) => one.top)),
  };
}

/** What a map of a scenario has to show; null where it fills any shape. */
export function boundsOfScenario(scenario: Scenario): Bounds | null {
  const { regions } = new World(worldOf(scenario));
  return regions.every((region) => region.dimension === 2 && region.ring.length)
    ? boundsOfAll(regions, 0)
    : null;
}

/** A workspace as it is drawn: itself, or its shadow on two axes, or in space. */
interface Seen {
  readonly region: Region;
  readonly shadow: Scene["shadow"];
  readonly space: Scene["space"];
}

/** Caches what is costly to compute, for one map. */
export class SceneMaker {
  private readonly world = new Memo<World>();
  private readonly seen = new Memo<Seen>();
  private readonly tableKey = new Memo<unknown>();
  private readonly density = new Memo<Density | null>();
  private readonly most = new Memo<number>();
  private readonly heat = new Memo<Heat>();
  private readonly frame = new Memo<Bounds>();
  private readonly fitted = new Memo<View>();
  private readonly glance = new Memo<Glance>();
  private shadow: Scene["shadow"] = null; // of what was seen last without dragging
  private space: Scene["space"] = null;
  private painted: { density: Density; place: readonly unknown[]; when: number } | null = null;

  constructor(
    private readonly session: Session,
    private readonly clock: Moment = session.clock,
  ) {}

  private jumpOf(lane: Lane): number {
    const { session, clock } = this;
    return clock === session.clock ? session.jumpOf(lane) : lane.timeline.jumpsUntil(clock.t);
  }

  make(lane: Lane | null, size: Size, theme: Theme, drag: Drag): Shown | null {
    const app = this.session.store.get();
    const { clock } = this;
    if (!app.scenario) return null;
    const jump = lane ? this.jumpOf(lane) : 0;
    const piece = lane?.timeline.pieceAt(clock.t, jump) ?? null;
    const world = piece?.world ?? this.worldOf(app.scenario);
    const t = lane?.timeline.locate(clock.t, jump)?.t ?? 0;
    const region = this.regionOf(world, t, drag, app);
    const { shadow, space } = this;
    const sensors = world.shown(app.selected, app.sensor);
    const moving = world.densityAt(t, sensors.slice(0, 1));
    const table = tableAt(moving, t);
    const peaks = drag.peaks ?? peaksOf(table);
    const whole = sensors.length > 1 ? tableAt(world.densityAt(t, sensors), t) : table;
    const density = this.densityOf(drag.density ?? (drag.peaks ? withPeaks(table, drag.peaks) : whole));
    const end = this.endOf(lane, app.scenario);
    const frame = this.frameOf(world, region, end);
    const view = drag.view ?? this.session.view ?? this.fit(frame, region, app.tool, peaks, size);
    const glance = piece ? this.glanceOf(piece, jump - piece.jumps, app.selected, view.sx) : null;
    const all = lane?.stateAt(clock.t, jump) ?? resting(app.start);
    const lifted = lift(all, drag);
    const state = shadow && !space ? flattened(all, shadow.axes) : all;
    const most = world.changes && !shadow && region.dimension <= 2 ? this.mostOf(world, sensors, end) : 0;
    const scene: Scene = {
      region,
      frame,
      shadow,
      space,
      line: region.bounds ? this.codeOf(lineCode) : null,
      state,
      unit: unitOf(app.scenario, lane),
      heat:
        region.dimension === 2 && !shadow && density
          ? this.heatOf(density, world, region, theme, most)
          : null,
      peaks,
      paths: peaksOf(moving).map(pathOf),
      most,
      diagrams: (sensors.length ? sensors : [null]).map((one) => world.members(state.present, one)),
      radii: piece ? piece.radii : radiiOf(app.scenario),
      marks: world.marks(state.agents),
      spans: region.bounds ? spansOf(world, piece?.offset ?? 0) : [],
      stretches: lane ? stretchesOf(lane, clock.t, jump) : [],
      glance,
      fresh: piece ? (clock.playing ? FRESH * clock.speed : 0) : -1,
      latest: piece && !clock.playing ? latestOf(piece, jump - piece.jumps) : -1,
      samples: !piece || everSamples(piece),
      scaled: !lane || lane === app.lanes[0],
      running: piece !== null,
      time: clock.t,
      end,
      tool: app.tool,
      selected: app.selected,
      selectedPeak: app.selectedPeak,
      selectedCorner: app.selectedCorner,
      hovered: app.hovered,
      speed: speedScale(app.lanes),
      lifted,
      draft: app.drawing,
      cursor: cursorOf(app, region),
      layers: app.layers,
      view,
      size,
      theme,
    };
    return { scene, density, table };
  }

  private endOf(lane: Lane | null, scenario: Scenario): number {
    return lane && lane.timeline.end > 0 ? lane.timeline.end : scenario.run.horizon;
  }

  private worldOf(scenario: Scenario): World {
    return this.world.get([scenario], () => new World(worldOf(scenario)));
  }

  private codeOf<Code>(
    code: (came: () => void, failed: (error: unknown) => void) => Code | null,
  ): Code | null {
    return code(
      () => this.session.clock.touch(),
      (error) => this.session.fail(error),
    );
  }

  private regionOf(
    world: World,
    t: number,
    { ring, parts, bounds }: Drag,
    { axes, orbit, start: places }: AppState,
  ): Region {
    if (parts) return regionOfParts(parts);
    if (ring) return { dimension: 2, ring, bounds: null, editable: true };
    if (bounds) return { dimension: 1, ring: [], bounds, editable: true };
    const workspace = world.workspaceAt(t);
    const now = world.regionAt(t);
    const code = now.dimension === 3 && orbit ? this.codeOf(spaceCode) : null;
    const seen = this.seen.get([now, axes, orbit, code], () => {
      const { dimension } = now;
      const space = code && orbit ? code.spaceOf(workspace, orbit) : null;
      if (dimension <= 2) return { region: space ? space.region : now, shadow: null, space };
      const [x, y] = axes[1] < dimension ? axes : PLANE;
      const shadow: Scene["shadow"] = {
        axes: [x, y],
        names: [nameOfAxis(x, dimension), nameOfAxis(y, dimension)],
      };
      return { region: space ? space.region : shadowOf(workspace, places, [x, y]), shadow, space };
    });
    this.shadow = seen.shadow;
    this.space = seen.space;
    return seen.region;
  }

  private densityOf(table: DensityTable | undefined): Density | null {
    // Equal tables have one density; a grid as text would take too long.
    const key = this.tableKey.get([table], () => (isRaster(table) ? table : JSON.stringify(table ?? null)));
    return this.density.get([key], () => densityOf(table));
  }

  /** The picture of a density; while time runs it may be that of a moment ago. */
  private heatOf(density: Density, world: World, region: Region, theme: Theme, most: number): Heat {
    const place = [world.changes ? world : region, theme];
    const { painted } = this;
    const soon =
      world.changes &&
      this.clock === this.session.clock &&
      this.clock.playing &&
      painted !== null &&
      isSame(place, painted.place) &&
      performance.now() - painted.when < HEAT_EVERY;
    const shown = soon ? painted.density : density;
    return this.heat.get([...place, shown], () => {
      this.painted = { density: shown, place, when: performance.now() };
      const bounds = world.changes ? boundsOfAll(world.regions, 0) : boundsOf(region, 0);
      return paintHeat(shown, bounds, theme, most);
    });
  }

  /** About the largest density of some sensors at any time. */
  private mostOf(world: World, sensors: readonly number[], end: number): number {
    return this.most.get([world, sensors.join()], () => {
      const all = world.times
        .filter((t) => t <= end)
        .map((t) => densityOf(tableAt(world.densityAt(t, sensors), t)));
      return largestOf(
        all.filter((one) => one !== null),
        boundsOfAll(world.regions, 0),
      );
    });
  }

  /** The box of the workspace; of one that changes, at all times. */
  private frameOf(world: World, region: Region, end: number): Bounds {
    const whole = world.changes && !this.shadow;
    return this.frame.get([whole ? world : region, end], () =>
      whole ? boundsOfAll(world.regions, end) : boundsOf(region, end),
    );
  }

  /** Everything; peaks outside of the workspace, too, while these can be moved. */
  private fit(frame: Bounds, region: Region, tool: Tool, peaks: readonly DensityTable[], size: Size): View {
    const others = tool === "peaks" && !this.shadow ? peaks.map((peak) => boxOf(peak, frame)) : [];
    const box = around([frame, ...others]);
    const key = [box.left, box.right, box.bottom, box.top, size.width, size.height];
    return this.fitted.get(key, () => fit(box, size, region.dimension === 2));
  }

  /** The last sample; while time runs, that of the chosen agent. */
  private glanceOf(piece: LanePiece, jump: number, selected: number, scale: number): Glance | null {
    const { arc } = piece;
    const { playing } = this.clock;
    if (arc.dimension > 2 || jump < 1) return null;
    const row = playing
      ? selected >= 0 && selected < arc.agents
        ? arc.rowsAfter(jump)[selected]
        : -1
      : jump - 1;
    if (row < 0 || (arc.events.sampled && !arc.events.sampled[row])) return null;
    return this.glance.get([arc, row, piece.radii && scale], () => seen(piece, row, scale));
  }
}

/** Put the agent that is dragged where the pointer is; where it was. */
function lift(state: ArcState, { agent }: Drag): Scene["lifted"] {
  if (!agent || agent.which >= state.agents) return null;
  const n = state.dimension;
  const here = state.positions.subarray(agent.which * n, agent.which * n + n);
  const from = Array.from(here);
  here.set(agent.place);
  return { which: agent.which, from };
}

/** The center of a peak as a box; on a line at the lower end. */
const boxOf = ({ center = [] }: DensityTable, frame: Bounds): Bounds => {
  const [x = frame.left, y = frame.bottom] = center;
  return { left: x, right: x, bottom: y, top: y };
};

/** Where a ring is drawn by keys, or where the brush is. */
function cursorOf({ tool, drawing, cursor, brush }: AppState, region: Region): Scene["cursor"] {
  if (!cursor || region.dimension !== 2 || (!drawing && tool !== "paint")) return null;
  return { at: cursor, radius: drawing ? 0 : brush.size * widthOf(region) };
}
