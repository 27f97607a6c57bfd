/** Under the bar of time: switches of the world as marks, keyframes as ticks, each with its words. */

import { useRef, useState } from "preact/hooks";
import type { Lane } from "../state/lane";
import { marksOfRun, type Mark } from "../world/words";
import { figure, useApp, useSession } from "./context";

export function WorldLine() {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const lane = useApp((app) => app.lanes)[0] as Lane | undefined;
  useApp((app) => app.laneVersion);
  const [shown, show] = useState(-1);
  const [stop, setStop] = useState(0); // the mark that Tab reaches
  const line = useRef<HTMLDivElement>(null);
  const marks = scenario ? marksOfRun(lane?.timeline.pieces ?? [], scenario) : [];
  if (!marks.length) return null;
  const { end } = session;
  const at = Math.min(stop, marks.length - 1);
  const share = (t: number): string => `${100 * Math.min(1, t / end)}%`;
  const go = (t: number): void => {
    session.clock.pause();
    session.seek(t);
  };
  const turn = (e: KeyboardEvent): void => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    e.stopPropagation();
    const next = Math.min(marks.length - 1, Math.max(0, at + by));
    setStop(next);
    line.current?.querySelectorAll<HTMLElement>("button")[next]?.focus();
  };
  const said = marks[shown] as Mark | undefined;
  return (
    <div
      class="world-line"
      ref={line}
      role="toolbar"
      aria-label="Changes of the world"
      onKeyDown={turn}
      onPointerLeave={() => show(-1)}
    >
      {marks.map((one, k) => (
        <button
          key={`${one.kind} ${one.t}`}
          class={one.kind}
          style={{ left: share(one.t) }}
          tabIndex={k === at ? 0 : -1}
          aria-label={inWords(one)}
          onClick={() => go(one.t)}
          onPointerEnter={() => show(k)}
          onFocus={() => (setStop(k), show(k))}
          onBlur={() => show(-1)}
        />
      ))}
      {said && (
        <span
          class="bubble"
          aria-hidden="true"
          style={{ left: share(said.t), transform: `translateX(-${share(said.t)})` }}
        >
          {inWords(said)}
        </span>
      )}
    </div>
  );
}

const inWords = ({ t, kind, says }: Mark): string =>
  `${kind === "switch" ? "Switch at" : "At"} t = ${figure(t)}: ${says}`;
