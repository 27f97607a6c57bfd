/** The maps of all lanes, side by side. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { regionOf } from "../../geometry/workspace";
import type { Bounds, Size } from "../../map/view";
import type { Scenario } from "../../net/api";
import { useApp } from "../context";
import { Pending } from "../Pending";
import { framesOf } from "./columns";
import { MapPane } from "./MapPane";
import { boundsOfScenario } from "./scene_of";

/** Height over width of a map in one column. */
function shapeOf(bounds: Bounds | null, scenario: Scenario | null): number {
  if (!bounds || !scenario || regionOf(scenario.workspace).dimension !== 2) return 1;
  return Math.max(0.5, (bounds.top - bounds.bottom) / (bounds.right - bounds.left));
}

export function Maps() {
  const lanes = useApp((app) => app.lanes);
  const scenario = useApp((app) => app.scenario);
  const box = useRef<HTMLDivElement>(null);
  const [size, resize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const measure = (): void => resize({ width: element.clientWidth, height: innerHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    watch.observe(document.documentElement);
    return () => watch.disconnect();
  }, []);
  const bounds = useMemo(() => scenario && boundsOfScenario(scenario), [scenario]);
  const shown = lanes.length ? lanes : [null];
  const several = shown.length > 1;
  const { width, height, swiped } = framesOf(shown.length, size, bounds);
  const sizes = { "--frame-width": `${width}px`, "--frame-height": `${height}px` };
  const kind = !several ? "maps" : swiped ? "maps frames swiped" : "maps frames";
  return (
    <div class={kind} ref={box} style={several ? sizes : { "--shape": shapeOf(bounds, scenario) }}>
      {shown.map((lane, k) => (
        <MapPane key={k} lane={lane} titled={several} />
      ))}
      <Pending />
    </div>
  );
}
