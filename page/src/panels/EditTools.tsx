/** Tools for drawing a workspace, and for painting a density. */

import { useRef } from "preact/hooks";
import { regionOf } from "../geometry/workspace";
import { useApp, useSession } from "./context";
import { FileInput } from "./FileInput";

/** Drawing rings: a new workspace, or holes and parts of the present one. */
export function DrawTools() {
  const session = useSession();
  const drawing = useApp((app) => app.drawing);
  const chosen = useApp((app) => app.selectedCorner);
  const workspace = useApp((app) => app.scenario?.workspace);
  if (drawing)
    return (
      <>
        <button
          class="plain strong"
          disabled={drawing.length < 3}
          onClick={() => void session.editor.finishDrawing()}
        >
          Finish ({drawing.length})
        </button>
        <button class="plain" onClick={() => session.editor.letGo()}>
          Cancel
        </button>
      </>
    );
  return (
    <>
      <button
        class="plain"
        onClick={() => session.editor.beginDrawing()}
        title="Draw a new workspace, point by point; it need not be convex"
      >
        Draw new
      </button>
      <button
        class="plain"
        onClick={() => session.editor.beginDrawing(true)}
        title="Draw a ring: inside the workspace it is a hole, outside another part"
      >
        Draw hole
      </button>
      {workspace && regionOf(workspace).parts && (
        <button
          class="plain"
          disabled={chosen < 0}
          onClick={() => void session.editor.removeRing()}
          title="Remove the whole ring of the chosen vertex"
        >
          Remove ring
        </button>
      )}
    </>
  );
}

/** The brush, and pictures in its place. */
export function PaintTools() {
  const session = useSession();
  const brush = useApp((app) => app.brush);
  const file = useRef<HTMLInputElement>(null);
  const set = (change: Partial<typeof brush>): void => session.store.set({ brush: { ...brush, ...change } });
  return (
    <>
      <label class="brush">
        Size
        <input
          type="range"
          min={0.02}
          max={0.3}
          step={0.01}
          value={brush.size}
          onInput={(e) => set({ size: Number(e.currentTarget.value) })}
        />
      </label>
      <label class="brush">
        Strength
        <input
          type="range"
          min={0.05}
          max={1}
          step={0.05}
          value={brush.strength}
          onInput={(e) => set({ strength: Number(e.currentTarget.value) })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={brush.erase}
          onChange={(e) => set({ erase: e.currentTarget.checked })}
        />
        Erase
      </label>
      <FileInput input={file} accept="image/png,image/jpeg" name="Picture of the density" />
      <button
        class="plain"
        onClick={() => file.current?.click()}
        title="Take the density from a picture, PNG or JPEG, laid over the workspace: light places count most"
      >
        Picture
      </button>
    </>
  );
}
