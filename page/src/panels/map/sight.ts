/** What a map may show: some of the workspace stays in view. */

import type { Scene } from "../../map/scene";
import { inSight, type View } from "../../map/view";
import { boundsOf } from "./scene_of";

export const keptInSight = ({ size, region, end }: Scene, view: View): View =>
  inSight(view, size, boundsOf(region, end));
