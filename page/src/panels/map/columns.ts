/** How maps are put side by side: in as many columns as show the workspace largest. */

import type { Region } from "../../geometry/workspace";
import { fit, type Size } from "../../map/view";
import { boundsOf } from "./scene_of";

const GAP = 8; // pixels between maps
const WORDS = 60; // pixels of a title and the counters with a map

export function bestColumns(maps: number, size: Size, region: Region): number {
  if (region.dimension !== 2) return maps; // a line is drawn as wide as there is room
  const bounds = boundsOf(region, 0);
  const scale = (columns: number): number => {
    const rows = Math.ceil(maps / columns);
    const width = (size.width - GAP * (columns - 1)) / columns;
    const height = (size.height - GAP * (rows - 1)) / rows - (maps > 1 ? WORDS : 0);
    return fit(bounds, { width, height }, true).sx;
  };
  let best = maps; // beside each other they are compared most easily
  for (let columns = maps - 1; columns > 0; columns--) if (scale(columns) > 1.1 * scale(best)) best = columns;
  return best;
}
