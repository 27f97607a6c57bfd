/** Painting a density on a map: one stroke from the press of a pointer until it is let go. */

import { paintable, Stroke, type RasterTable } from "../../density/raster";
import type { Point } from "../../geometry/polygon";
import { placeIn, widthOf, type Region } from "../../geometry/workspace";
import type { Session } from "../../state/session";
import { boundsOf, type Shown } from "./scene_of";

/** Whether two grids differ at a pixel whose middle lies in a region. */
export function differWithin(region: Region, one: RasterTable, other: RasterTable): boolean {
  const [dx, dy = dx] = [one.pixel].flat();
  return one.inline.some((row, j) =>
    row.some((value, i) => {
      if (value === other.inline[j][i]) return false;
      const middle = [one.origin[0] + (i + 0.5) * dx, one.origin[1] + (j + 0.5) * dy];
      return String(placeIn(region, middle)) === String(middle);
    }),
  );
}

export class Painting {
  private stroke: Stroke | null = null;
  private base: RasterTable | null = null;

  constructor(
    private readonly session: Session,
    private readonly shown: () => Shown | null,
  ) {}

  /** Whether a press on the map paints. */
  get chosen(): boolean {
    const scene = this.shown()?.scene;
    return this.session.store.get().tool === "paint" && scene?.region.dimension === 2 && !scene.shadow;
  }

  get underWay(): boolean {
    return this.stroke !== null;
  }

  /** The density after the brush has gone on to a place; `before` is one that is not yet in the scenario. */
  to(z: Point, before: RasterTable | undefined): RasterTable | undefined {
    const shown = this.shown();
    if (!shown) return undefined;
    const { brush } = this.session.store.get();
    const { region } = shown.scene;
    this.base ??= paintable(before ?? shown.table, shown.density, boundsOf(region, 0));
    this.stroke ??= new Stroke(this.base, brush.size * widthOf(region), brush);
    this.session.store.set({ cursor: z });
    return this.stroke.to(z);
  }

  /** Whether what was painted changes anything in the workspace. */
  changes(painted: RasterTable): boolean {
    const region = this.shown()?.scene.region;
    return !this.base || !region || differWithin(region, this.base, painted);
  }

  end(): void {
    this.stroke = null;
    this.base = null;
  }
}
