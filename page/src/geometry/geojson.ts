/** Outlines in GeoJSON. */

import type { Point, Ring } from "./polygon";
import type { Part } from "./rings";

type Json = Record<string, unknown>;

const isTable = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const KINDS = [
  "FeatureCollection",
  "Feature",
  "GeometryCollection",
  "Polygon",
  "MultiPolygon",
  "Point",
  "MultiPoint",
  "LineString",
  "MultiLineString",
];

/** The GeoJSON in a text; null if it is something else. */
export function geoJsonIn(text: string): Json | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    const found: unknown = JSON.parse(text);
    return isTable(found) && KINDS.includes(found["type"] as string) ? found : null;
  } catch {
    return null;
  }
}

/** A ring without its last point, which repeats the first. */
function ringOf(positions: unknown): Point[] {
  const ring = (Array.isArray(positions) ? positions : []).map((z): Point => {
    const [x, y] = (Array.isArray(z) ? z : []) as unknown[];
    if (typeof x !== "number" || typeof y !== "number")
      throw new Error("The GeoJSON has a position that is not a pair of numbers.");
    return [x, y];
  });
  const [a, b] = [ring[0], ring[ring.length - 1]];
  if (ring.length > 1 && a[0] === b[0] && a[1] === b[1]) ring.pop();
  if (ring.length < 3)
    throw new Error(`The GeoJSON has a ring of ${ring.length} points; a ring has three or more.`);
  return ring;
}

const partOf = (rings: unknown): Part => {
  const [outer, ...holes] = (Array.isArray(rings) ? rings : [[]]).map(ringOf);
  return { outer, holes };
};

/** All polygons of a GeoJSON as parts, in its own coordinates; lines and points are passed over. */
export function partsIn(json: Json): Part[] {
  const inside = (key: string): Part[] =>
    (Array.isArray(json[key]) ? json[key] : []).filter(isTable).flatMap(partsIn);
  switch (json["type"]) {
    case "FeatureCollection":
      return inside("features");
    case "GeometryCollection":
      return inside("geometries");
    case "Feature":
      return isTable(json["geometry"]) ? partsIn(json["geometry"]) : [];
    case "Polygon":
      return [partOf(json["coordinates"])];
    case "MultiPolygon":
      return (Array.isArray(json["coordinates"]) ? json["coordinates"] : []).map(partOf);
    default:
      return [];
  }
}

/** Whether coordinates may be longitude and latitude: those of GeoJSON are, unless they cannot be. */
export const mayBeDegrees = (rings: readonly Ring[]): boolean =>
  rings.every((ring) => ring.every(([x, y]) => Math.abs(x) <= 180 && Math.abs(y) <= 90));
