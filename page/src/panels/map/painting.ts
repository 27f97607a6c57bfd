/** Painting a density on a map: one stroke from the press of a pointer until it is let go. */

import { paintable, Stroke, type RasterTable } from "../../density/raster";
import type { Point } from "../../geometry/polygon";
import { widthOf } from "../../geometry/workspace";
import type { Session } from "../../state/session";
import { boundsOf, type Shown } from "./scene_of";

export class Painting {
  private stroke: Stroke | null = null;

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
    this.stroke ??= new Stroke(
      paintable(before ?? shown.table, shown.density, boundsOf(region, 0)),
      brush.size * widthOf(region),
      brush,
    );
    this.session.store.set({ cursor: z });
    return this.stroke.to(z);
  }

  end(): void {
    this.stroke = null;
  }
}
