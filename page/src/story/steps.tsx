/** The steps of the story: which recorded runs are shown, from when to when, and what is said of them. */

import type { ComponentChildren } from "preact";
import { capital, figure, inWords, whole } from "../panels/context";
import { Term } from "../panels/Term";
import type { Figures } from "./figures";

export interface StoryStep {
  readonly title: string;
  readonly runs: readonly string[]; // recordings that are shipped with the page
  readonly from: number;
  readonly to: number;
  readonly seconds: number; // that it plays
  readonly agent?: number; // chosen on the map
  readonly say: (now: Figures, ends: readonly Figures[]) => ComponentChildren;
}

const TIMER = "story-timer";
const LONG = "story-long";
const LLOYD = "story-lloyd";

const number = (value: number): ComponentChildren => (
  <b class="number">{value >= 1000 ? whole(value) : figure(value, 3)}</b>
);
const count = (value: number): ComponentChildren => <b class="number">{whole(value)}</b>;

const cover: StoryStep = {
  title: "Cover",
  runs: [TIMER],
  from: 0,
  to: 40,
  seconds: 16,
  say: (now) => (
    <>
      <p>
        {capital(inWords(now.agents))} robots, the <Term name="agent">agents</Term>, start in a corner and
        share out an area. Strongly coloured ground matters more: the <Term name="density">density</Term> is
        higher there. Each moves towards the <Term name="centroid">centroid</Term> of its{" "}
        <Term name="cell">cell</Term>.
      </p>
      <p>
        The <Term name="cost">cost</Term> measures how far the ground is from the closest robot:{" "}
        {number(now.firstCost)} at the start, {number(now.cost)} now.
      </p>
    </>
  ),
};

const sample: StoryStep = {
  title: "Sample",
  runs: [TIMER],
  from: 4,
  to: 10,
  seconds: 14,
  say: (now) => (
    <>
      <p>
        A robot does not measure all the time. Now and then it <Term name="sample">samples</Term>: it obtains
        the positions of its neighbours, and computes its cell and the centroid. A ring marks that moment.
      </p>
      <p>
        Until now {count(now.samples)} samples, {count(now.samples / now.agents)} per robot.
      </p>
    </>
  ),
};

const hold: StoryStep = {
  title: "Hold",
  runs: [TIMER],
  from: 10,
  to: 14,
  seconds: 14,
  agent: 4,
  say: (now) => (
    <>
      <p>
        Between two samples a robot <Term name="hold">holds</Term> its velocity, the arrow, towards the
        centroid that it found last, ×. Meanwhile the others move, and so does the true centroid.
      </p>
      <p>
        The difference in velocity is the <Term name="holdError">hold error</Term>: at most{" "}
        {number(now.holdError)} so far, at a <Term name="k1">top speed</Term> of {number(now.law["k1"])}.
      </p>
    </>
  ),
};

const timer: StoryStep = {
  title: "Timer",
  runs: [TIMER],
  from: 14,
  to: 22,
  seconds: 14,
  say: (now) => (
    <>
      <p>
        When to sample next? Each robot has its own <Term name="timer">timer</Term>, set at each sample to a
        time between <Term name="t1">T1</Term> = {number(now.law["t1"])} and <Term name="t2">T2</Term> ={" "}
        {number(now.law["t2"])}. There is no common clock.
      </p>
      <p>
        So far the shortest time between two samples of a robot was {number(now.shortest)}, the longest{" "}
        {number(now.longest)}.
      </p>
    </>
  ),
};

const long: StoryStep = {
  title: "T2 too long",
  runs: [LONG],
  from: 0,
  to: 60,
  seconds: 16,
  say: (now, [end]) => (
    <>
      <p>
        With T2 = {number(now.law["t2"])} a robot may travel {number(now.law["k1"] * now.law["t2"])} before it
        samples again, far beyond <Term name="nu">ν</Term> = {number(now.law["nu"])}: it passes its centroid
        and must come back.
      </p>
      <p>
        The largest <Term name="error">error</Term> is {number(now.error)} now and {number(end.error)} at the
        end, and the cost ends at {number(end.cost)}. The paper bounds T2 so that this cannot happen.
      </p>
    </>
  ),
};

const fewer: StoryStep = {
  title: "Same cost, fewer samples",
  runs: [TIMER, LLOYD],
  from: 0,
  to: 60,
  seconds: 16,
  say: (_, [mine, lloyd]) => (
    <>
      <p>
        The first map shows timers, the second Lloyd's law, which samples all the time: here every dt ={" "}
        {number(lloyd.law["dt"])}, at the same top speed.
      </p>
      <p>
        Timers reach a cost of {number(mine.cost)} with {count(mine.samples)} samples, Lloyd's law{" "}
        {number(lloyd.cost)} with {count(lloyd.samples)}. For the same cost, timers need{" "}
        <b class="number">{figure((100 * mine.samples) / lloyd.samples, 2)} % as many</b> samples; the share
        depends on dt.
      </p>
    </>
  ),
};

export const STEPS: readonly StoryStep[] = [cover, sample, hold, timer, long, fewer];
