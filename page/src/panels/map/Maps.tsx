/** The maps of all lanes, side by side. */

import { useEffect, useRef, useState } from "preact/hooks";
import { regionOf } from "../../geometry/workspace";
import type { Size } from "../../map/view";
import { useApp } from "../context";
import { Pending } from "../Pending";
import { bestColumns } from "./columns";
import { MapPane } from "./MapPane";

export function Maps() {
  const lanes = useApp((app) => app.lanes);
  const workspace = useApp((app) => app.scenario?.workspace);
  const box = useRef<HTMLDivElement>(null);
  const [size, resize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const watch = new ResizeObserver(() =>
      resize({ width: element.clientWidth, height: element.clientHeight }),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const shown = lanes.length ? lanes : [null];
  const columns = workspace ? bestColumns(shown.length, size, regionOf(workspace)) : shown.length;
  return (
    <div class="maps" ref={box} style={{ "--columns": columns }}>
      {shown.map((lane, k) => (
        <MapPane key={k} lane={lane} titled={shown.length > 1} />
      ))}
      <Pending />
    </div>
  );
}
