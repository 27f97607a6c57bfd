/** What the pointer does on the map, and what the map shows. */

import { nameOfAxis, pairsOf } from "../geometry/shadow";
import { isDrawn, regionOf } from "../geometry/workspace";
import { FRONT } from "../map/orbit";
import type { Layers, Tool } from "../map/scene";
import { useApp, useSession } from "./context";
import { DrawTools, PaintTools } from "./EditTools";
import { Icon } from "./Icon";

const TOOLS: readonly { tool: Tool; name: string; key: string; about: string }[] = [
  { tool: "agents", name: "Agents", key: "1", about: "Drag agents; double-click to add one" },
  { tool: "peaks", name: "Peaks", key: "2", about: "Drag the peaks of the density; double-click to add one" },
  { tool: "workspace", name: "Workspace", key: "3", about: "Drag the vertices of the workspace" },
  { tool: "paint", name: "Paint", key: "4", about: "Paint the density with a brush" },
];

const ADDS: Record<Tool, string> = {
  agents: "Add an agent near the middle",
  peaks: "Add a peak near the middle",
  paint: "Paint at the cursor",
  workspace: "Add a vertex after the chosen one, or on the longest side",
};

const TURNED = "turned"; // among pairs of axes: all three

const LAYERS: readonly { layer: keyof Layers; name: string }[] = [
  { layer: "heat", name: "Density" },
  { layer: "cells", name: "Cells" },
  { layer: "trails", name: "Paths" },
  { layer: "holds", name: "Held velocities" },
  { layer: "targets", name: "Targets" },
  { layer: "names", name: "Numbers" },
];

export function MapTools() {
  const session = useSession();
  const app = useApp((state) => state);
  const { tool, drawing, layers } = app;
  const chosen = tool === "agents" ? app.selected : tool === "peaks" ? app.selectedPeak : app.selectedCorner;
  const region = app.scenario ? regionOf(app.scenario.workspace) : null;
  const planar = region?.dimension === 2;
  const touchable = region !== null && isDrawn(region);
  const corners = planar && region.editable;
  const setAxes = (seen: string): void => {
    session.view = null; // it is of other axes
    if (seen === TURNED) return session.store.set({ orbit: FRONT });
    const [a, b] = seen.split(",").map(Number);
    session.store.set({ axes: [a, b], orbit: null });
  };
  return (
    <div class="tools">
      {!session.fixed && (
        <>
          {(!region || touchable) && (
            <div class="segments" role="group" aria-label="What the pointer changes">
              {TOOLS.map((one) => (
                <button
                  key={one.tool}
                  aria-pressed={tool === one.tool}
                  disabled={!touchable || (one.tool === "paint" && !planar)}
                  title={`${one.about} (${one.key})`}
                  onClick={() => session.editor.setTool(one.tool)}
                >
                  {one.name}
                </button>
              ))}
            </div>
          )}
          {touchable && !drawing && tool !== "paint" && (
            <button
              class="plain"
              disabled={tool === "workspace" && !corners}
              onClick={() => void session.editor.addOne()}
              title={`${ADDS[tool]} (A on the map)`}
            >
              <Icon name="plus" /> <span class="word">Add</span>
            </button>
          )}
          {tool === "workspace" && planar && <DrawTools />}
          {tool === "paint" && planar && <PaintTools />}
          {touchable && !drawing && tool !== "paint" && (
            <button
              class="plain"
              disabled={chosen < 0}
              onClick={() => void session.editor.removeChosen()}
              title="Remove what is chosen (Delete)"
            >
              <Icon name="bin" /> <span class="word">Remove</span>
            </button>
          )}
        </>
      )}
      {region && region.dimension > 2 && (
        <label>
          <span class="hidden">Axes that are seen</span>
          <select
            value={region.dimension === 3 && app.orbit ? TURNED : app.axes.join()}
            title="The axes that are seen"
            onChange={(e) => setAxes(e.currentTarget.value)}
          >
            {region.dimension === 3 && <option value={TURNED}>x, y and z</option>}
            {pairsOf(region.dimension).map((pair) => (
              <option key={pair.join()} value={pair.join()}>
                {pair.map((axis) => nameOfAxis(axis, region.dimension)).join(" and ")}
              </option>
            ))}
          </select>
        </label>
      )}
      <span class="gap" />
      {!session.fixed && (
        <>
          <button
            class="plain"
            disabled={!app.undoable}
            onClick={() => session.undo()}
            title="Undo the last change (Ctrl+Z)"
            aria-label="Undo"
          >
            <Icon name="undo" />
          </button>
          <button
            class="plain"
            disabled={!app.redoable}
            onClick={() => session.undo(false)}
            title="Redo the change that was undone (Ctrl+Y)"
            aria-label="Redo"
          >
            <Icon name="redo" />
          </button>
        </>
      )}
      <details class="menu">
        <summary>Show</summary>
        <div class="menu-body" role="group" aria-label="Layers of the map">
          {LAYERS.map(({ layer, name }) => (
            <label key={layer} class="check">
              <input
                type="checkbox"
                checked={layers[layer]}
                onChange={(e) =>
                  session.store.set({ layers: { ...layers, [layer]: e.currentTarget.checked } })
                }
              />
              {name}
            </label>
          ))}
        </div>
      </details>
      <button
        class="plain"
        onClick={() => session.setView(null)}
        title="Show everything (0)"
        aria-label="Show everything"
      >
        <Icon name="fit" />
      </button>
    </div>
  );
}
