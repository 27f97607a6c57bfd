/** Pictures of the maps as files, each with its title, law and time. */

import { HEIGHT, type Caption } from "../../map/caption";
import { Painter } from "../../map/painter";
import { compose, toSvg } from "../../map/pictures";
import { plain } from "../../map/ticks";
import type { Lane } from "../../state/lane";
import { nameOf } from "../../state/laws";
import type { Session } from "../../state/session";
import { largestSpeed } from "../../state/speed";
import { download, maps, type MapEntry } from "./exports";
import type { Shown } from "./scene_of";

const SHARP = 2; // pixels of a picture per pixel of the page

const time = (t: number): string => `t = ${t.toFixed(t >= 1000 ? 0 : t >= 100 ? 1 : 2)}`;

/** What stands above a map: before a run, without a time. */
export function captionOf(session: Session, lane: Lane | null, { scene }: Shown): Caption {
  const { scenario } = session.store.get();
  const { agents } = scene.state;
  const law = lane?.name ?? nameOf(scenario?.controller.kind ?? "");
  const fast = lane ? `, largest speed ${plain(Number(largestSpeed(lane).toPrecision(3)))}` : "";
  return {
    title: scenario?.name ?? "dwell",
    law: `${law} law, ${agents} ${agents === 1 ? "agent" : "agents"}${fast}`,
    time: scene.running ? time(scene.time) : "start",
  };
}

/** Something for each map that shows anything. */
function each(save: (map: MapEntry, shown: Shown, k: number) => void): void {
  for (const [k, map] of [...maps].entries()) {
    const shown = map.shown();
    if (shown) save(map, shown, k);
  }
}

export const saveSvg = (session: Session, name: string): void =>
  each(({ lane }, shown, k) => {
    const text = toSvg(shown.scene, shown.density, captionOf(session, lane, shown));
    download(new Blob([text], { type: "image/svg+xml" }), numbered(name, k, "svg"));
  });

export const savePng = (session: Session, name: string): void =>
  each(({ lane }, shown, k) => {
    const { width, height } = shown.scene.size;
    const picture = document.createElement("canvas");
    new Painter(picture).draw(shown.scene, shown.density, SHARP);
    const canvas = document.createElement("canvas");
    canvas.width = SHARP * width;
    canvas.height = SHARP * (height + HEIGHT);
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    context.scale(SHARP, SHARP);
    compose(context, picture, shown.scene, captionOf(session, lane, shown), 0);
    canvas.toBlob((blob) => blob && download(blob, numbered(name, k, "png")), "image/png");
  });

const numbered = (name: string, k: number, end: string): string =>
  k ? `${name}-${k + 1}.${end}` : `${name}.${end}`;
