/** Moving and zooming a map by mouse, wheel and two fingers; d3-zoom knows the gestures. */

import { select } from "d3-selection";
import { zoom, zoomIdentity, ZoomTransform, type D3ZoomEvent } from "d3-zoom";
import { toWorld, type Size, type View } from "../../map/view";
import type { Session } from "../../state/session";
import type { Shown } from "./scene_of";
import { keptInSight } from "./sight";

/** What is seen after the picture of a view was moved and enlarged. */
export function transformed(view: View, size: Size, { k, x, y }: ZoomTransform): View {
  const [left, top] = toWorld(view, size, (size.width / 2 - x) / k, (size.height / 2 - y) / k);
  return { x: left, y: top, sx: view.sx * k, sy: view.sy * k };
}

/** How the picture of a view is moved and enlarged so that another one is seen. */
export function transformTo(view: View, size: Size, other: View): ZoomTransform {
  const k = other.sx / view.sx;
  const x = size.width / 2 - k * (size.width / 2 + (other.x - view.x) * view.sx);
  const y = size.height / 2 - k * (size.height / 2 - (other.y - view.y) * view.sy);
  return new ZoomTransform(k, x, y);
}

/**
 * Listen to gestures that move a map; `busy` says that the pointer has something else to do.
 * Every gesture begins at what is seen then, which other maps and keys may have changed.
 */
export function listenToZoom(
  canvas: HTMLCanvasElement,
  session: Session,
  shown: () => Shown | null,
  busy: () => boolean,
): () => void {
  let from: View | null = null;
  const target = select<HTMLCanvasElement, unknown>(canvas);
  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .filter((e: Event) => shown() !== null && moves(e, busy()))
    .constrain((to) => {
      const scene = shown()?.scene;
      const view = from ?? scene?.view;
      if (!scene || !view) return to;
      return transformTo(view, scene.size, keptInSight(scene, transformed(view, scene.size, to)));
    })
    .on("start", () => (from = shown()?.scene.view ?? null))
    .on("zoom", ({ transform }: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      const scene = shown()?.scene;
      if (scene && from) session.setView(transformed(from, scene.size, transform));
    })
    .on("end", () => {
      from = null;
      target.property("__zoom", zoomIdentity);
    });
  target.call(behaviour).on("dblclick.zoom", null); // it adds an agent
  return () => target.on(".zoom", null);
}

/** Whether an event begins to move the map: the wheel, the mouse on the ground, two fingers. */
function moves(e: Event, busy: boolean): boolean {
  if (e instanceof WheelEvent) return true;
  if (e instanceof MouseEvent) return !busy && e.button === 0 && !e.ctrlKey;
  return (e as TouchEvent).targetTouches.length > 1;
}
