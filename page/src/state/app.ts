/** What the page shows, as one value; the session changes it, panels and maps read it. */

import type { Brush } from "../density/raster";
import type { Point } from "../geometry/polygon";
import { PLANE, type Axes } from "../geometry/shadow";
import { FRONT, type Orbit } from "../map/orbit";
import type { Layers, Tool } from "../map/scene";
import type { Scenario, Template } from "../net/api";
import type { Places } from "./edits";
import type { Draft } from "./forms";
import type { Lane } from "./lane";
import { chosenTheme, type ThemeChoice } from "./link";

export type Panel = "guide" | "numbers" | "design" | "scenario" | "compare";

export interface Notice {
  readonly kind: "error" | "info" | "hint"; // a hint follows the tool that is chosen
  readonly text: string;
}

export interface AppState {
  templates: readonly Template[];
  scenario: Scenario | null;
  start: Places; // where agents start, also if scattered
  lanes: readonly Lane[];
  opening: boolean; // whether a scenario was requested that is not there yet
  undoable: boolean;
  redoable: boolean;
  story: number | null; // which step of the story is shown
  asking: boolean; // whether runs were requested that the server has not taken yet
  version: number; // of the rows that have come
  laneVersion: number; // of everything else about the lanes
  axes: Axes; // that are seen of a workspace of more than two dimensions
  orbit: Orbit | null; // from where one of three dimensions is seen; null for two of its axes
  tool: Tool;
  layers: Layers;
  selected: number;
  selectedPeak: number;
  selectedCorner: number;
  hovered: number;
  sensor: number; // whose cells are shown while no agent is chosen
  drawing: readonly Point[] | null; // corners of a new ring
  adding: boolean; // whether that ring is added to the workspace, as a hole or a part
  cursor: Point | null; // where the brush is, or where keys draw
  brush: Brush;
  drafts: readonly Draft[]; // what was typed and refused
  notice: Notice | null;
  offline: boolean;
  panel: Panel;
  theme: ThemeChoice;
  help: boolean;
  filmSeconds: number; // that a film lasts
}

export const firstState = (): AppState => ({
  templates: [],
  scenario: null,
  start: [],
  lanes: [],
  opening: false,
  undoable: false,
  redoable: false,
  story: null,
  asking: false,
  version: 0,
  laneVersion: 0,
  axes: PLANE,
  orbit: FRONT,
  tool: "agents",
  layers: { heat: true, cells: true, trails: true, holds: true, targets: true, names: false },
  selected: -1,
  selectedPeak: -1,
  selectedCorner: -1,
  hovered: -1,
  sensor: 0,
  drawing: null,
  adding: false,
  cursor: null,
  brush: { size: 0.08, strength: 0.5, erase: false },
  drafts: [],
  notice: null,
  offline: false,
  panel: "guide",
  theme: chosenTheme(),
  help: false,
  filmSeconds: 6,
});
