/** Play, pause, step, speed, and the bar to scrub through hybrid time. */

import { useEffect, useRef } from "preact/hooks";
import { SPEEDS, usualSpeed } from "../state/clock";
import { figure, useApp, useClock, useSession, whole } from "./context";
import { Icon } from "./Icon";
import { lazy } from "./lazy";
import { Term } from "./Term";

const WorldLine = lazy(async () => (await import("./WorldLine")).WorldLine, "");

const NOTCHES = 10000; // of the bar

/** Speeds to choose from: those of the list, the present one, and one that fits the run. */
const speedsWith = (...more: number[]): number[] =>
  [...new Set([...SPEEDS, ...more])].sort((one, other) => one - other);

export function Transport() {
  const session = useSession();
  const { playing, speed } = useClock();
  return (
    <div class="transport" role="group" aria-label="Time">
      <button
        class="round"
        onClick={() => session.seek(0)}
        aria-label="Back to the beginning"
        title="Back to the beginning (Home)"
      >
        <Icon name="begin" />
      </button>
      <button
        class="round"
        onClick={() => session.step(-1)}
        aria-label="One jump back"
        title="One jump back (←)"
      >
        <Icon name="back" />
      </button>
      <button
        class="round play"
        onClick={() => void session.playOrPause()}
        aria-label={playing ? "Pause" : "Play"}
        title={playing ? "Pause (Space)" : "Play (Space)"}
      >
        <Icon name={playing ? "pause" : "play"} />
      </button>
      <button
        class="round"
        onClick={() => session.step(1)}
        aria-label="One jump forward"
        title="One jump forward (→)"
      >
        <Icon name="forward" />
      </button>
      <div class="bars">
        <Scrubber />
        <WorldLine />
      </div>
      <Readout />
      <label class="speed">
        <span class="hidden">Speed</span>
        <select
          value={String(speed)}
          title="Time of the run per second"
          onChange={(e) => {
            session.clock.setSpeed(Number(e.currentTarget.value));
            e.currentTarget.blur();
          }}
        >
          {speedsWith(speed, usualSpeed(session.end)).map((one) => (
            <option key={one} value={String(one)}>
              {figure(one, 2)}×
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** The bar is moved without drawing components again: sixty times a second would be too often. */
function Scrubber() {
  const session = useSession();
  const bar = useRef<HTMLInputElement>(null);
  const known = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const show = (): void => {
      const element = bar.current as HTMLInputElement;
      const { t } = session.clock;
      const { end } = session;
      element.value = String(Math.round((NOTCHES * t) / end));
      element.setAttribute("aria-valuetext", `time ${figure(t)} of ${figure(end)}`);
      const share = session.runs.limit().known / end;
      (known.current as HTMLDivElement).style.transform = `scaleX(${Math.min(1, share)})`;
    };
    show();
    return session.clock.onFrame(show);
  }, [session]);
  return (
    <div class="scrubber">
      <div class="known" ref={known} />
      <input
        ref={bar}
        type="range"
        min={0}
        max={NOTCHES}
        step={1}
        aria-label="Time"
        onInput={(e) => {
          session.clock.pause();
          session.seek((Number(e.currentTarget.value) / NOTCHES) * session.end);
        }}
      />
    </div>
  );
}

function Readout() {
  const session = useSession();
  const time = useRef<HTMLSpanElement>(null);
  const jump = useRef<HTMLSpanElement>(null);
  useApp((app) => app.laneVersion);
  useEffect(() => {
    const show = (): void => {
      const { t } = session.clock;
      const lane = session.store.get().lanes[0];
      (time.current as HTMLSpanElement).textContent = `t ${t.toFixed(t >= 1000 ? 0 : t >= 100 ? 1 : 2)}`;
      (jump.current as HTMLSpanElement).textContent = `j ${whole(lane ? session.jumpOf(lane) : 0)}`;
    };
    show();
    return session.clock.onFrame(show);
  }, [session]);
  return (
    <output class="readout">
      <Term name="hybridTime">
        <span ref={time} /> <span ref={jump} class="dim" />
      </Term>
    </output>
  );
}
