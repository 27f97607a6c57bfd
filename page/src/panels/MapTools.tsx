/** What the pointer does on the map, and what the map shows. */

import { regionOf } from "../geometry/workspace";
import type { Layers, Tool } from "../map/scene";
import { useApp, useSession } from "./context";
import { Icon } from "./Icon";

const TOOLS: readonly { tool: Tool; name: string; key: string; about: string }[] = [
  { tool: "agents", name: "Agents", key: "1", about: "Drag agents; double-click to add one" },
  { tool: "peaks", name: "Peaks", key: "2", about: "Drag the hills of the density; double-click to add one" },
  { tool: "workspace", name: "Workspace", key: "3", about: "Drag the corners of the workspace" },
];

const ADDS: Record<Tool, string> = {
  agents: "Add an agent near the middle",
  peaks: "Add a peak near the middle",
  workspace: "Add a corner after the chosen one, or on the longest side",
};

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
  const corners = planar && region.editable;
  return (
    <div class="tools">
      <div class="segments" role="group" aria-label="What the pointer changes">
        {TOOLS.map((one) => (
          <button key={one.tool} aria-pressed={tool === one.tool} title={`${one.about} (${one.key})`} onClick={() => session.hands.setTool(one.tool)}>
            {one.name}
          </button>
        ))}
      </div>
      {!drawing && (
        <button class="plain" disabled={tool === "workspace" && !corners} onClick={() => void session.hands.addOne()} title={`${ADDS[tool]} (A on the map)`}>
          <Icon name="plus" /> Add
        </button>
      )}
      {tool === "workspace" && planar && !drawing && (
        <button class="plain" onClick={() => session.hands.beginDrawing()} title="Draw a new workspace, point by point">
          Draw new
        </button>
      )}
      {drawing && (
        <>
          <button class="plain strong" disabled={drawing.length < 3} onClick={() => void session.hands.finishDrawing()}>
            Finish ({drawing.length})
          </button>
          <button class="plain" onClick={() => session.store.set({ drawing: null })}>
            Cancel
          </button>
        </>
      )}
      {!drawing && (
        <button class="plain" disabled={chosen < 0} onClick={() => void session.hands.removeChosen()} title="Remove what is chosen (Delete)">
          <Icon name="bin" /> Remove
        </button>
      )}
      <span class="gap" />
      <button class="plain" onClick={() => session.undo()} title="Undo the last change of the scenario (Ctrl+Z)" aria-label="Undo">
        <Icon name="undo" />
      </button>
      <details class="menu">
        <summary>Show</summary>
        <div class="menu-body" role="group" aria-label="Layers of the map">
          {LAYERS.map(({ layer, name }) => (
            <label key={layer} class="check">
              <input type="checkbox" checked={layers[layer]} onChange={(e) => session.store.set({ layers: { ...layers, [layer]: e.currentTarget.checked } })} />
              {name}
            </label>
          ))}
        </div>
      </details>
      <button class="plain" onClick={() => session.setView(null)} title="Show everything (0)" aria-label="Show everything">
        <Icon name="fit" />
      </button>
    </div>
  );
}

