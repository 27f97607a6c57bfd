/** Files that are opened or dropped: scenarios, outlines (GeoJSON) and pictures. */

import { PICTURE, rasterOfPicture } from "../density/raster";
import { geoJsonIn, mayBeDegrees, partsIn } from "../geometry/geojson";
import { ringsOf, workspaceOf } from "../geometry/rings";
import { site, type Outline } from "../net/api";
import { withSite } from "../state/site";
import { speedOf } from "../state/laws";
import { capital, figure } from "./context";
import { LONGEST } from "../state/link";
import type { Session } from "../state/session";
import { regionOf } from "../geometry/workspace";
import { boundsOf } from "./map/scene_of";

/** How files of stored runs begin: HDF5 or older NetCDF. */
const STORED = ["\x89HDF", "CDF\x01", "CDF\x02", "CDF\x05"];

const PICTURES = ["image/png", "image/jpeg"];
const PICTURE_NAMES = /\.(png|jpe?g)$/i; // where the system has no type for the file
const TEXT_NAMES = /(\.(toml|json|geojson|txt)|^[^.]+)$/i;
const OPENED = "the page opens scenarios (TOML, JSON), outlines (GeoJSON) and pictures (PNG, JPEG)";
const LARGEST_PICTURE = 20_000_000; // bytes; it is made small before anything is done with it

const tooLarge = (file: File, what: string, most: number): string =>
  `${file.name} has ${(file.size / 1e6).toFixed(1)} MB; ${what} has at most ${most / 1e6} MB.`;

const isTable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Why a file of this name and text is no scenario and no outline, whatever is in it; empty if it may be one. */
export function refusalOf(name: string, text: string): string {
  if (!text.trim()) return `${name} is empty; ${OPENED}.`;
  if (!TEXT_NAMES.test(name) || /[\0\ufffd]/.test(text)) return `${name} cannot be opened; ${OPENED}.`;
  if (!/json$/i.test(name)) return "";
  try {
    if (isTable(JSON.parse(text))) return "";
  } catch {
    return ""; // the server says where it goes wrong
  }
  return `${name} holds no table; a scenario in JSON is an object with workspace, agents, controller and run.`;
}

/** Open a file. What it cannot be is found out before all of it is read. */
export async function openFile(session: Session, file: File): Promise<void> {
  try {
    if (PICTURES.includes(file.type) || PICTURE_NAMES.test(file.name))
      return await openPicture(session, file);
    const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 4).arrayBuffer()));
    if (STORED.includes(head))
      return session.say(`${file.name} is a stored run; dwell serve ${file.name} opens it.`, "error");
    if (file.size > LONGEST)
      return session.say(tooLarge(file, "a scenario file or an outline", LONGEST), "error");
    const text = await file.text();
    const refusal = refusalOf(file.name, text);
    if (refusal) return session.say(refusal, "error");
    const json = geoJsonIn(text);
    if (json) await openOutline(session, file.name, text, json);
    else await session.openText(text);
  } catch {
    session.say(`${file.name} cannot be read.`, "error");
  }
}

/** Clauses as sentences: each begins with a capital, unless it begins with a name, and ends with a stop. */
export const asSentences = (...clauses: readonly string[]): string =>
  clauses
    .map((one, k) => (k ? capital(one.trim()) : one.trim()))
    .map((one) => (/[.!?]$/.test(one) ? one : `${one}.`))
    .join(" ");

const HOUR = 3600;

/** A time in seconds, with hours where it is long. */
const inTime = (seconds: number): string =>
  seconds < HOUR ? `${figure(seconds)} s` : `${figure(seconds)} s (${figure(seconds / HOUR, 2)} hours)`;

/** An outline becomes the workspace of the scenario; only the server can make metres of degrees. */
async function openOutline(
  session: Session,
  name: string,
  text: string,
  json: Record<string, unknown>,
): Promise<void> {
  const { scenario } = session.store.get();
  if (!scenario) return;
  try {
    const parts = partsIn(json);
    if (!parts.length) throw new Error(`${name} has no polygon; an outline is a Polygon or a MultiPolygon.`);
    const measured = json["crs"] === undefined && !mayBeDegrees(ringsOf(parts));
    const found: Outline = measured ? { workspace: workspaceOf(parts), repairs: [] } : await site(text, name);
    const { workspace, repairs } = found;
    const { scenario: next } = withSite(scenario, workspace, name.replace(/\.\w+$/, ""), found.site);
    const speed = speedOf(next.controller);
    if (!(await session.change(next))) return;
    session.setView(null);
    const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
    const all = partsIn({ type: "Feature", geometry: null, ...json });
    const shown = regionOf(workspace).parts ?? [{ holes: [] }];
    const holes = shown.reduce((sum, part) => sum + part.holes.length, 0);
    const joined = all.length > shown.length ? ` (of ${all.length} polygons, joined where they touch)` : "";
    session.say(
      asSentences(
        `${name} is the workspace: ${many(shown.length, "part")}, ${many(holes, "hole")}${joined}`,
        "the agents are scattered over it, and the density is uniform",
        `lengths are in metres and times in seconds: ${speed ? `the largest speed is ${figure(speed)} m/s, and ` : ""}the run lasts ${inTime(next.run.horizon)}; change both under Scenario`,
        ...(measured ? ["its coordinates, which cannot be degrees, are taken as metres"] : []),
        ...repairs,
      ),
    );
  } catch (error) {
    session.fail(error);
  }
}

/** The density from a picture that is laid over the workspace. */
async function openPicture(session: Session, file: File): Promise<void> {
  const { scenario } = session.store.get();
  const region = scenario && regionOf(scenario.workspace);
  if (region?.dimension !== 2)
    return session.say("A picture can be the density of a workspace in the plane only.", "error");
  if (file.size > LARGEST_PICTURE) return session.say(tooLarge(file, "a picture", LARGEST_PICTURE), "error");
  const picture = await createImageBitmap(file);
  const share = Math.min(1, PICTURE / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(2, Math.round(share * picture.width));
  canvas.height = Math.max(2, Math.round(share * picture.height));
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const density = rasterOfPicture(data, canvas.width, canvas.height, boundsOf(region, 0));
  if (await session.editor.setDensity(density))
    session.say(
      `The density is ${file.name}, ${canvas.width} × ${canvas.height} pixels over the workspace; light places count most.`,
    );
}
