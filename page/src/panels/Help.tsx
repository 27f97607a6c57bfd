/** Keys and marks, explained. */

import { useEffect, useRef } from "preact/hooks";
import { useApp, useSession } from "./context";
import "./help.css";

const KEYS: readonly (readonly [string, string])[] = [
  ["Space", "play or pause"],
  ["← →", "one jump back or forward"],
  ["Shift ← →", "a hundredth of the time back or forward"],
  ["Home, End", "the beginning, the end"],
  ["< >", "slower, faster"],
  ["R", "run from the beginning"],
  ["1 2 3 4", "change agents, peaks, the workspace, or paint the density"],
  ["M", "go to the map"],
  ["0", "show everything"],
  ["O S L", "open, save, link"],
  ["Ctrl Z, Ctrl Y", "undo, redo a change, and the run with it"],
  ["Enter", "finish drawing a ring"],
  ["Esc", "leave the story, close a menu"],
  ["?", "this help"],
];

const MAP_KEYS: readonly (readonly [string, string])[] = [
  ["[ ]", "select the previous one, the next"],
  ["arrows", "move what is chosen; with Shift finely"],
  ["A, Delete", "add one, remove what is chosen"],
  ["arrows, A", "while drawing or painting: move the cursor; a vertex, or a touch of the brush, at it"],
  ["+ − 0", "closer, farther, everything"],
  ["Ctrl arrows", "move the map"],
  ["arrows, drag", "in three dimensions: turn space; with Shift a drag moves it"],
  ["Esc", "deselect"],
];

const MARKS: readonly (readonly [string, string])[] = [
  ["dot", "an agent; its arrow is the velocity that it holds"],
  ["×", "its target: the centroid of its cell when it last sampled"],
  ["ring", "it sampled just now"],
  ["filled cell, +", "when paused: the last agent that sampled, with its cell and centroid"],
  ["square, triangle …", "agents with other sensors; the line below the map says which"],
  ["◆, tick", "below the bar of time: a switch of the world, a keyframe"],
  ["grey ground", "in the hull of a workspace that is not convex, but no part of it"],
  ["colour of the ground", "the density: strongly coloured places matter more; thin lines join equal values"],
];

export function Help() {
  const session = useSession();
  const shown = useApp((app) => app.help);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown) {
      dialog.current?.showModal();
      dialog.current?.focus(); // itself, not its last button: a small screen would show the end first
      dialog.current?.scrollTo(0, 0);
    } else dialog.current?.close();
  }, [shown]);
  return (
    <dialog
      ref={dialog}
      class="help"
      tabIndex={-1}
      aria-labelledby="help-title"
      onClose={() => session.store.set({ help: false })}
    >
      <form method="dialog" class="help-head">
        <h2 id="help-title">Keys and marks</h2>
        <button class="plain strong">Close</button>
      </form>
      <div class="help-columns">
        <Table title="Anywhere" rows={KEYS} />
        <div>
          <Table title="On the map" rows={MAP_KEYS} />
          <Table title="On the map you see" rows={MARKS} />
        </div>
      </div>
      <p>
        Drag an agent, a peak or a vertex; double-click to add. Before a run that changes the start; on the
        way the run goes on from there, and the others react. Drag the ground to move the map, and use the
        wheel or two fingers to zoom.
      </p>
    </dialog>
  );
}

function Table({ title, rows }: { title: string; rows: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="keys">
        {rows.map(([key, does]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
