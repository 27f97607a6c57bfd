/** One map: a canvas that is drawn at every frame in which something moved. */

import { useEffect, useRef } from "preact/hooks";
import { Painter } from "../../map/painter";
import type { Size } from "../../map/view";
import type { Lane } from "../../state/lane";
import { figure, useApp, useSession, useTheme, whole } from "../context";
import { Counters } from "../Counters";
import { maps } from "./exports";
import { Gestures } from "./gestures";
import { SceneMaker, type Shown } from "./scene_of";

export function MapPane({ lane, titled }: { lane: Lane | null; titled: boolean }) {
  const session = useSession();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const label = useApp((app) =>
    describe(
      app.start.length,
      app.scenario?.name,
      lane?.kind ?? app.scenario?.controller.kind,
      session.fixed,
    ),
  );
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const painter = new Painter(element, () => session.clock.touch());
    const maker = new SceneMaker(session);
    let shown: Shown | null = null;
    let size: Size = { width: element.clientWidth, height: element.clientHeight };
    const gestures = new Gestures(element, session, () => shown);
    const draw = (): void => {
      shown = maker.make(lane, size, theme, gestures.drag);
      if (shown && size.width > 0) painter.draw(shown.scene, shown.density);
      element.toggleAttribute("data-turns", shown?.scene.space !== null);
    };
    const off = session.clock.onFrame(draw);
    const offStore = session.store.subscribe(() => session.clock.touch());
    const watch = new ResizeObserver(() => {
      size = { width: element.clientWidth, height: element.clientHeight };
      session.clock.touch();
    });
    watch.observe(element);
    const entry = { canvas: element, lane, shown: () => shown };
    maps.add(entry);
    return () => {
      maps.delete(entry);
      watch.disconnect();
      off();
      offStore();
      gestures.close();
      painter.close();
    };
  }, [session, lane, theme]);
  return (
    <figure class="map">
      {titled && lane && <LaneTitle lane={lane} />}
      <canvas
        ref={canvas}
        class="map-canvas"
        tabIndex={0}
        role="application"
        aria-label={label}
        aria-describedby="map-keys"
      />
      {titled && lane && <Counters lane={lane} few />}
    </figure>
  );
}

const describe = (
  agents: number,
  name: string | undefined,
  law: string | undefined,
  fixed: boolean,
): string =>
  `Map of ${name ?? "the scenario"}: ${whole(agents)} agents under the ${law ?? ""} law.${fixed ? "" : " Press question mark for the keys."}`;

function LaneTitle({ lane }: { lane: Lane }) {
  useApp((app) => app.laneVersion);
  const job = lane.job;
  return (
    <figcaption class="lane-title">
      <b>{lane.name}</b>
      {lane.problem ? (
        <span class="bad"> {lane.problem.message}</span>
      ) : job?.status === "queued" ? (
        <span class="dim"> place {job.position} in the queue</span>
      ) : null}
      {job?.status === "running" && <span class="dim"> {figure(100 * job.progress, 2)} %</span>}
    </figcaption>
  );
}
