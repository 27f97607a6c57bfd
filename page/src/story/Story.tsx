/** The paper in 90 seconds: steps beside the map, each with a recorded run that plays. */

import { useEffect, useRef, useState } from "preact/hooks";
import { readRecording, type Recording } from "../net/recorded";
import { recordedAt } from "../state/beginning";
import type { Session } from "../state/session";
import { useApp, useSession, useTime } from "../panels/context";
import { figuresOf, type Figures } from "./figures";
import { STEPS, type StoryStep } from "./steps";
import "./story.css";

const fetched = new Map<string, Promise<Recording>>();

function recording(name: string): Promise<Recording> {
  const found = fetched.get(name) ?? readRecording(recordedAt(name));
  fetched.set(name, found);
  found.catch(() => fetched.delete(name)); // another try may do
  return found;
}

const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Show a step from its beginning; runs that are there already stay. */
function play(session: Session, step: StoryStep, runs: readonly Recording[], again: boolean): void {
  if (!again) session.showRecorded(runs);
  session.editor.chooseNothing();
  if (step.agent !== undefined) session.store.set({ selected: step.agent });
  session.clock.setSpeed((step.to - step.from) / step.seconds);
  session.clock.pause();
  session.seek(still() ? step.to : step.from);
  if (!still()) session.clock.play();
}

/** Plays the step; which of its runs are there. */
function useStep(at: number): boolean {
  const session = useSession();
  const shown = useRef<readonly string[]>([]);
  const [there, arrived] = useState(-1);
  useEffect(() => {
    let over = false;
    const step = STEPS[at];
    const begin = async (): Promise<void> => {
      try {
        const runs = await Promise.all(step.runs.map(recording));
        if (over) return;
        play(session, step, runs, shown.current.join() === step.runs.join());
        shown.current = step.runs;
        arrived(at);
      } catch (error) {
        session.fail(error);
      }
    };
    void begin();
    const off = session.clock.onFrame(() => {
      if (!session.clock.playing || session.clock.t < step.to || shown.current !== step.runs) return;
      if (at + 1 < STEPS.length) session.store.set({ story: at + 1 });
      else session.clock.pause();
    });
    return () => {
      over = true;
      off();
    };
  }, [session, at]);
  return there === at;
}

export function Story() {
  const session = useSession();
  const at = useApp((app) => app.story ?? 0);
  const heading = useRef<HTMLHeadingElement>(null);
  const ready = useStep(at);
  const go = (to: number): void => session.store.set({ story: Math.min(STEPS.length - 1, Math.max(0, to)) });
  useEffect(() => heading.current?.focus(), []);
  const turn = (e: KeyboardEvent): void => {
    if (e.key === "ArrowRight" || e.key === "PageDown") go(at + 1);
    else if (e.key === "ArrowLeft" || e.key === "PageUp") go(at - 1);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="story" onKeyDown={turn}>
      <div class="story-top">
        <h2 ref={heading} tabIndex={-1}>
          The paper in 90 seconds
        </h2>
        <button class="plain" onClick={() => session.leaveStory()} title="Back to the page (Esc)">
          Leave
        </button>
      </div>
      <ol class="story-steps">
        {STEPS.map((one, k) => (
          <li key={one.title}>
            <button aria-current={k === at ? "step" : undefined} onClick={() => go(k)}>
              {one.title}
            </button>
          </li>
        ))}
      </ol>
      <section class="story-text" aria-live="off">
        <h3>
          {at + 1}. {STEPS[at].title}
        </h3>
        {ready ? <Text step={STEPS[at]} /> : <p class="dim">The run is being loaded…</p>}
      </section>
      <p class="row">
        <button class="plain" disabled={at === 0} onClick={() => go(at - 1)}>
          Back
        </button>
        {at + 1 < STEPS.length ? (
          <button class="plain strong" onClick={() => go(at + 1)}>
            Next
          </button>
        ) : (
          <button class="plain strong" onClick={() => session.leaveStory()}>
            Try it yourself
          </button>
        )}
      </p>
      <p class="dim">
        <a href="https://arxiv.org/abs/2402.18744" target="_blank" rel="noreferrer">
          Zegers, Phillips and Hicks, Timer-Based Coverage Control for Mobile Sensors
        </a>
        . The runs shown are recorded; vertices and start are reconstructed from the paper's pictures.
      </p>
    </div>
  );
}

/** What is said of the time that is shown. */
function Text({ step }: { step: StoryStep }) {
  const session = useSession();
  const lanes = useApp((app) => app.lanes);
  useTime(4);
  if (!lanes.length) return null;
  const figures = (k: number, t: number, jump: number): Figures => figuresOf(lanes[k], t, jump);
  const ends = lanes.map((lane, k) => figures(k, lane.timeline.known, lane.timeline.jumps));
  return <>{step.say(figures(0, session.clock.t, session.jumpOf(lanes[0])), ends)}</>;
}
