/**
 * Colours of pictures, light and dark. Each has one meaning: blue is only ever an agent or a law,
 * the sea-green ramp is the density, orange a sample, violet what is selected or can be dragged,
 * and ink (solid) the present time or (dashed) a bound.
 */

import { rampOf, type Rgb } from "./ramp";

export interface Theme {
  readonly name: "light" | "dark";
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  /** Words and ticks beside the map. */
  readonly cell: string;
  /** Borders of cells and contours, which must be seen on every density. */
  readonly line: string;
  readonly border: string;
  readonly flash: string;
  readonly limit: string;
  readonly good: string;
  readonly bad: string;
  readonly select: string;
  /** Density from nothing to its largest value. */
  readonly heat: readonly Rgb[];
  /** How much of its agent's colour a cell has. */
  readonly tint: number;
  readonly agents: readonly string[];
}

// Okabe and Ito's blue and vermilion, and six more that stay as far apart as can be for all three
// kinds of colour blindness, each with enough contrast to the paper; a test measures both.
const ON_LIGHT = ["#0072B2", "#D55E00", "#5C5123", "#9655F6", "#CE7E7E", "#2929A3", "#813161", "#1A1A1A"];
const ON_DARK = ["#56B4E9", "#F5793A", "#A1F425", "#CE7E9E", "#EFC98F", "#3D62F5", "#DF2046", "#F2F2F2"];

export const LIGHT: Theme = {
  name: "light",
  paper: "#ffffff",
  ink: "#1b1f24",
  faint: "#b9c0c8",
  cell: "#4a545e",
  line: "#242a31",
  border: "#2a3038",
  flash: "#c24a00",
  limit: "#1b1f24",
  good: "#00785A",
  bad: "#b3261e",
  select: "#5D3A9B",
  heat: rampOf([
    [1, 0, 190],
    [0.78, 0.095, 190],
    [0.56, 0.09, 225],
  ]),
  tint: 0.1,
  agents: ON_LIGHT,
};

export const DARK: Theme = {
  name: "dark",
  paper: "#12161b",
  ink: "#e8ecf0",
  faint: "#4b5661",
  cell: "#a3afba",
  line: "#eef2f5",
  border: "#cfd6dd",
  flash: "#ff9a4d",
  limit: "#e8ecf0",
  good: "#2FC7A0",
  bad: "#ff8a80",
  select: "#c9b3f5",
  heat: rampOf([
    [0.197, 0.012, 250],
    [0.41, 0.075, 220],
    [0.62, 0.095, 195],
  ]),
  tint: 0.09,
  agents: ON_DARK,
};

const DASHES: readonly (readonly number[])[] = [[], [6, 2], [2, 2], [7, 2, 2, 2]];

/** The colour of an agent, the same in every picture. */
export const colourOf = (theme: Theme, agent: number): string => theme.agents[agent % theme.agents.length];

/** The line pattern of an agent: when colours are used up they come again with the next one. */
export const dashOf = (theme: Theme, agent: number): readonly number[] =>
  DASHES[Math.floor(agent / theme.agents.length) % DASHES.length];
