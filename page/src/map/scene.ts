/** Scene: everything that a map shows, as plain values. Nothing here knows a browser. */

import type { Arc, ArcState } from "../arc/arc";
import type { Density, DensityTable } from "../density/density";
import type { Axes } from "../geometry/shadow";
import type { Region } from "../geometry/workspace";
import type { Heat } from "./heat";
import type { Pen } from "./pen";
import type { Theme } from "./theme";
import type { Bounds, Size, View } from "./view";

export interface Layers {
  heat: boolean;
  cells: boolean;
  trails: boolean;
  holds: boolean;
  targets: boolean;
  names: boolean;
}

export type Tool = "agents" | "peaks" | "workspace" | "paint";

/** What an agent measured at its last sample. */
export interface Glance {
  readonly agent: number;
  readonly time: number;
  readonly place: readonly number[];
  readonly centroid: readonly number[];
  /** Its cell then: corners in the plane, both ends on a line. */
  readonly cell: Float64Array;
  /** Its cells of further sensors. */
  readonly others: readonly Float64Array[];
}

/** How a peak moves and changes. */
export interface PeakPath {
  readonly fixedWidth: boolean; // whether its width cannot be dragged, as it changes over time
  readonly fixedWeight: boolean; // the same of its weight
  readonly along: readonly (readonly number[])[]; // where it passes; empty if it stays
}

export interface Stretch {
  readonly arc: Arc;
  readonly jumps: number; // as many of its jumps are to be shown
  readonly offset: number;
  readonly until: number; // when the next one begins, in the time of the arc; of the last one Infinity
}

/** Space as it is seen from somewhere. */
export interface Space {
  draw(pen: Pen, scene: Scene, density: Density | null): void;
  /** Where a point is in the plane of the picture. */
  project(z: ArrayLike<number>): [number, number];
  /** The agent that is seen at a point of the screen, or -1. */
  agentAt(scene: Scene, px: number, py: number, reach: number): number;
}

export interface Scene {
  readonly region: Region;
  /** The box of the workspace at all times, which has the axes. */
  readonly frame: Bounds;
  /** Of more than two dimensions: the two axes that are seen. Nothing can be touched then. */
  readonly shadow: { readonly axes: Axes; readonly names: readonly [string, string] } | null;
  /** Of three dimensions that are seen at once: how; then `state` has three coordinates. */
  readonly space: Space | null;
  /** The code that draws a workspace of one dimension; null for others, and until it is there. */
  readonly line: typeof import("./line") | null;
  readonly state: ArcState;
  readonly unit: string; // of lengths: "m" at a site, else empty; times are then in seconds
  readonly heat: Heat | null;
  readonly peaks: readonly DensityTable[];
  readonly paths: readonly PeakPath[];
  /** The largest density at any time; 0 if it is that of now. */
  readonly most: number;
  /** Agents whose cells divide the region, sensor after sensor; null for all agents. */
  readonly diagrams: readonly (Int32Array | null)[];
  /** How far each agent senses; null if that is unlimited. */
  readonly radii: Float64Array | null;
  /** The mark of each agent, by its sensors; null where all have the same. */
  readonly marks: Uint8Array | null;
  /** On a line that changes, both ends from some times on. */
  readonly spans: readonly { readonly from: number; readonly bounds: readonly [number, number] }[];
  readonly stretches: readonly Stretch[];
  readonly glance: Glance | null;
  /** How long the ring of a sample lasts. */
  readonly fresh: number;
  /** While time stands still: the agent of the last event, named on the map as below it; -1 for none. */
  readonly latest: number;
  readonly samples: boolean; // whether agents sample at all; under some laws they only receive messages
  readonly scaled: boolean; // whether the scale of the density is shown; of several maps one has it
  readonly running: boolean; // whether there is a run at all
  readonly time: number;
  readonly end: number;
  readonly tool: Tool;
  readonly selected: number;
  readonly selectedPeak: number;
  readonly selectedCorner: number;
  /** The speed that has the longest arrow, the same on all maps and at all times. */
  readonly speed: number;
  /** The agent that is being dragged, and where its path has come to. */
  readonly lifted: { readonly which: number; readonly from: readonly number[] } | null;
  readonly hovered: number;
  readonly draft: readonly (readonly [number, number])[] | null;
  /** Where keys draw or the brush paints, and how far it reaches; null if nothing is drawn. */
  readonly cursor: { readonly at: readonly [number, number]; readonly radius: number } | null;
  readonly layers: Layers;
  readonly view: View;
  readonly size: Size;
  readonly theme: Theme;
}
