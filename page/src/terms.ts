/** Terms of the page with their definitions, which are those of docs/glossary.md; a test compares them. */

export interface Defined {
  readonly term: string; // as in the glossary
  readonly symbol?: string;
  readonly says: string;
}

export const TERMS = {
  agent: { term: "agent", says: "A mobile sensor, modelled as a point with bounded speed." },
  sample: {
    term: "sample",
    says: "An agent measures its cell, or its neighbours' positions, at one of its events.",
  },
  hold: { term: "zero-order hold", says: "The velocity stays constant between two samples." },
  heldVelocity: {
    term: "held velocity",
    symbol: "η",
    says: "The velocity that agent p applies until its next event.",
  },
  holdError: {
    term: "hold error",
    symbol: "η̃",
    says: "The held velocity minus the velocity that the law would give with a fresh sample.",
  },
  jump: {
    term: "jump",
    says: "An instantaneous change of the state: here one agent's new velocity and new timer.",
  },
  hybridTime: { term: "hybrid time", symbol: "(t, j)", says: "Time, and the number of jumps so far." },
  timer: { term: "timer", symbol: "τ", says: "The time left until the next event of agent p." },
  broadcast: {
    term: "broadcast",
    says: "A message with a position, a speed bound and data to all others.",
  },
  neighbour: {
    term: "neighbour",
    says: "An agent whose Voronoi cell shares a facet with that of agent p.",
  },
  cell: {
    term: "Voronoi cell",
    says: "The points of the workspace at least as close to agent p as to any other agent.",
  },
  density: {
    term: "density",
    symbol: "φ",
    says: "The weight of each point of the workspace, the region that the agents cover.",
  },
  centroid: { term: "centroid", symbol: "c", says: "The density-weighted mean of a cell." },
  error: {
    term: "tracking error, coverage error",
    symbol: "e = c − x",
    says: "The displacement from an agent to the centroid of its cell.",
  },
  cost: {
    term: "locational cost",
    says: "The density-weighted squared distance from every point to its closest agent, integrated over the workspace.",
  },
  coverage: {
    term: "coverage",
    says: "Every tracking error is at most ν, from some time until the end of the run.",
  },
  horizon: { term: "horizon", says: "The time at which a run ends." },
  k1: { term: "top speed", symbol: "k1", says: "The largest speed of an agent." },
  nu: { term: "coverage radius", symbol: "ν", says: "The tracking error that counts as covered." },
  t1: { term: "minimum dwell time", symbol: "T1", says: "The shortest time between two samples." },
  t2: {
    term: "maximum dwell time",
    symbol: "T2",
    says: "The longest time between two samples; also the largest value that a condition admits.",
  },
  etaMax: {
    term: "hold-error limit",
    symbol: "η̃max",
    says: "The hold error that the theorem assumes is never exceeded.",
  },
  lipschitz: {
    term: "Lipschitz constant",
    symbol: "L",
    says: "A bound on how far the centroid of agent p moves per displacement of the group, over a given set of configurations.",
  },
} as const satisfies Record<string, Defined>;

export type TermName = keyof typeof TERMS;
