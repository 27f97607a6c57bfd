/**
 * What robots do under each law, in the words of the Guide; none says more than its law does.
 * [word|term] is a word that has a definition.
 */

import type { Law, Scenario } from "../net/api";
import { tracksOf } from "../world/world";

/** The sentences of a law: after the headline, and for the lines about samples and about motion. */
export interface LawWords {
  readonly tail: string;
  readonly samples: string;
  readonly moves: string;
}

const RING = " A ring marks this [jump|jump] on the map.";
const MEASURES = "measures its cell and finds the [centroid|centroid]";
const TOGETHER = `All [sample|sample] at the same times, every dt: each ${MEASURES}.${RING}`;
const SCHEDULES: Readonly<Record<string, string>> = {
  synchronous: "All step at the same times",
  "round-robin": "They step one after another",
  random: "One at a time steps, drawn at random",
  poisson: "Each steps at random times",
};

const WORDS: Readonly<Record<string, (law: Law) => LawWords>> = {
  timer: () => ({
    tail: "Each samples only now and then.",
    samples: `Now and then it [samples|sample]: it ${MEASURES}.${RING}`,
    moves:
      "Then it [holds|hold] its velocity towards the centroid (×), and measures nothing until its [timer|timer] runs out.",
  }),
  lloyd: (law) =>
    law["mode"] === "ode"
      ? {
          tail: "Each follows its centroid all the time.",
          samples: "Its [centroid|centroid] is known at every moment: this is a differential equation.",
          moves: "It moves towards its centroid (×), faster where that is farther away.",
        }
      : {
          tail: "All sample together, every dt.",
          samples: TOGETHER,
          moves:
            "Then it moves towards the centroid (×), faster where that is farther away, until all sample again.",
        },
  "discrete-lloyd": ({ schedule = "synchronous" }) => ({
    tail: "They move to their centroids in steps.",
    samples: `${SCHEDULES[String(schedule)] ?? "They step in turn"}: a robot [samples|sample], that is, it ${MEASURES}.${RING}`,
    moves: "Then it moves towards the centroid (×) until the step is over.",
  }),
  "self-triggered": () => ({
    tail: "Each computes when to sample next.",
    samples: `When it [samples|sample], it ${MEASURES}. Then it computes how long the centroid stays near enough, and samples again after that.${RING}`,
    moves: "In between it moves towards the centroid (×) and measures nothing.",
  }),
  "self-triggered-centroid": () => ({
    tail: "Each samples when it knows too little.",
    samples: `When it is too uncertain where its [centroid|centroid] lies, it [samples|sample] where its neighbours are.${RING}`,
    moves: "In between it moves on, to where the centroid (×) must be by what it knows.",
  }),
  "event-triggered": () => ({
    tail: "None samples: they broadcast.",
    samples:
      "A robot [broadcasts|broadcast] its position and a bound on its speed whenever that bound changes. The others compute with what they received last.",
    moves:
      "It moves towards where its [centroid|centroid] (×) lies by those broadcasts, and waits when it is near.",
  }),
  tvd: () => ({
    tail: "All sample together, and know how the density moves.",
    samples: TOGETHER,
    moves:
      "Its velocity towards the centroid (×) takes into account how the density and the others move, until all sample again.",
  }),
  "minimum-energy": () => ({
    tail: "Each moves no faster than it has to.",
    samples: TOGETHER,
    moves:
      "Then it moves as slowly as it can while its squared distance to the centroid (×) falls at a given rate.",
  }),
};

const OTHER: LawWords = {
  tail: "They follow a law written in Python.",
  samples: "At its events a robot takes a velocity from that law. A ring marks this [jump|jump] on the map.",
  moves: "It moves as the law says until its next event; × is its target, where it has one.",
};

export const lawWords = (law: Law): LawWords => WORDS[law.kind]?.(law) ?? OTHER;

/** What the world does to the cost, if it changes; the agents that come and go included. */
export function changesOf({ world = [], workspace, density, sensor = [] }: Scenario): string {
  const tables = [workspace, density, ...world.flatMap((one) => [one.workspace, one.density])];
  const moves = [...tables, ...sensor.map((one) => one.density)].some((one) => tracksOf(one).length > 0);
  const says = [
    moves ? "The density or the workspace moves, so the cost may rise whatever the law does." : "",
    world.length ? "The world switches on the way: the cost may jump there, up or down." : "",
  ];
  return says.filter(Boolean).join(" ");
}
