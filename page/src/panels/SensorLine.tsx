/** Under the map: whose cells and density it shows, and which mark stands for which sensors. */

import { useMemo } from "preact/hooks";
import { shapeOf } from "../map/marks";
import { listed } from "../world/words";
import { World, worldOf } from "../world/world";
import { useApp, useSession } from "./context";

export function SensorLine() {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const selected = useApp((app) => app.selected);
  const sensor = useApp((app) => app.sensor);
  const lane = useApp((app) => app.lanes)[0];
  useApp((app) => app.laneVersion);
  const last = lane?.timeline.last;
  const world = useMemo(() => last?.world ?? (scenario && new World(worldOf(scenario))), [scenario, last]);
  if (!world?.form.sensors.length) return null;
  const names = world.form.sensors.map((one) => one.name);
  const shown = world.shown(selected, sensor).map((k) => names[k]);
  const agents = Math.max(...world.form.sensors.flatMap((one) => one.owners)) + 1;
  const lines = ["solid", "dashed", "dotted"];
  return (
    <div class="sensors">
      <label>
        Cells and density of{" "}
        <select
          disabled={selected >= 0}
          value={String(Math.min(sensor, names.length - 1))}
          onChange={(e) => session.store.set({ sensor: Number(e.currentTarget.value) })}
        >
          {names.map((name, k) => (
            <option key={k} value={String(k)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <span aria-live="polite">
        {selected >= 0 &&
          `Agent ${selected} is chosen: the map shows ${listed(shown.map((name, k) => (shown.length > 1 ? `${name} (${lines[k % 3]})` : name)))}.`}
      </span>
      <span>Agents with</span>
      {world.groups(agents).map(({ sensors }, k) => (
        <span key={k} class="kind">
          <span aria-hidden="true">{shapeOf(k).sign}</span>
          <span class="hidden">{shapeOf(k).name}: </span> {listed(sensors.map((one) => names[one]))}
        </span>
      ))}
    </div>
  );
}
