/** Colours of pictures, light and dark. */

export interface Theme {
  readonly name: "light" | "dark";
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly cell: string;
  readonly border: string;
  readonly flash: string;
  readonly limit: string;
  readonly good: string;
  readonly bad: string;
  readonly select: string;
  /** Density from nothing to its largest value, as [r, g, b]. */
  readonly heat: readonly (readonly [number, number, number])[];
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
  border: "#2a3038",
  flash: "#c24a00",
  limit: "#0072B2",
  good: "#00785A",
  bad: "#b3261e",
  select: "#5D3A9B",
  heat: [
    [255, 255, 255],
    [222, 235, 247],
    [190, 214, 236],
    [148, 190, 222],
    [120, 172, 212],
  ],
  agents: ON_LIGHT,
};

export const DARK: Theme = {
  name: "dark",
  paper: "#12161b",
  ink: "#e8ecf0",
  faint: "#4b5661",
  cell: "#a3afba",
  border: "#cfd6dd",
  flash: "#ff9a4d",
  limit: "#56B4E9",
  good: "#2FC7A0",
  bad: "#ff8a80",
  select: "#c9b3f5",
  heat: [
    [18, 22, 27],
    [22, 38, 56],
    [26, 56, 88],
    [32, 76, 120],
    [38, 88, 136],
  ],
  agents: ON_DARK,
};

const DASHES: readonly (readonly number[])[] = [[], [6, 2], [2, 2], [7, 2, 2, 2]];

/** The colour of an agent, the same in every picture. */
export const colourOf = (theme: Theme, agent: number): string => theme.agents[agent % theme.agents.length];

/** The line pattern of an agent: when colours are used up they come again with the next one. */
export const dashOf = (theme: Theme, agent: number): readonly number[] =>
  DASHES[Math.floor(agent / theme.agents.length) % DASHES.length];

/** The diameter of a dot that stands for one of so many agents. */
export const dotOf = (agents: number): number =>
  Math.min(6, Math.max(1.6, 6 * Math.sqrt(40 / Math.max(agents, 1))));
