/** What buttons and keys of the page do with files, the link and the map. */

import { asText, fileOf, filmOf, htmlOf } from "../net/api";
import type { Lane } from "../state/lane";
import type { Session } from "../state/session";
import { listed } from "../world/words";
import { download } from "./map/exports";

export const FILE_INPUT = "scenario-file";

const inFileName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** A file name made of the scenario's name. */
export const fileName = (session: Session): string =>
  inFileName(session.store.get().scenario?.name ?? "") || "scenario";

/** Let a person choose a file. */
export const pickFile = (): void => document.getElementById(FILE_INPUT)?.click();

export const focusMap = (): void => document.querySelector<HTMLElement>(".map-canvas")?.focus();

/** What a scenario alone does not hold: changes on the way. Empty for a run that is as it was started. */
export function startsAnew(session: Session): string {
  const parts = session.store.get().lanes[0]?.timeline.pieces ?? [];
  if (parts.length < 2) return "";
  const times = parts.slice(1).map((part) => part.offset.toFixed(2));
  return ` The run shown was changed at t = ${listed(times)}: this holds the changed scenario, which starts anew at t = 0, so its figures will differ. Export, Run as NetCDF holds the part since the last change.`;
}

export async function saveScenario(session: Session): Promise<void> {
  const { scenario } = session.store.get();
  if (!scenario) return;
  try {
    const name = `${fileName(session)}.toml`;
    download(new Blob([await asText(scenario)], { type: "application/toml" }), name);
    session.say(`${name} is saved.${startsAnew(session)}`);
  } catch (error) {
    session.fail(error);
  }
}

/** What a file of a run that was edited on the way holds: its last part. */
function partOf({ timeline }: Lane): string {
  const since = timeline.last?.offset ?? 0;
  return since > 0 ? `; it holds the part from t = ${since.toFixed(2)} on, where its clock begins` : "";
}

export async function saveRun(session: Session, what: "nc" | "gif"): Promise<void> {
  const { lanes } = session.store.get();
  const done = lanes.filter((lane) => lane.summary && !lane.recorded);
  if (!done.length) return session.say("A film or a file needs a run that is done; press Run first.");
  const part = partOf(done[0]);
  const names = done.map(
    ({ name }) => `${fileName(session)}${lanes.length > 1 ? `-${inFileName(name)}` : ""}.${what}`,
  );
  try {
    session.say(
      what === "nc"
        ? `The run is being fetched${part}.`
        : `The film is being drawn, which takes some seconds${part}.`,
    );
    for (const [k, lane] of done.entries()) {
      const id = lane.timeline.last?.id ?? "";
      download(
        what === "nc" ? await fileOf(id) : await filmOf(id, what, session.store.get().filmSeconds),
        names[k],
      );
    }
    session.say(`${names.join(", ")} ${names.length > 1 ? "are" : "is"} saved${part}.`);
  } catch (error) {
    session.fail(error);
  }
}

/** Pictures and films are drawn by code that is fetched when it is first needed. */
export async function savePicture(session: Session, what: "png" | "svg"): Promise<void> {
  const { savePng, saveSvg } = await import("./map/pictures");
  (what === "png" ? savePng : saveSvg)(session, fileName(session));
}

export async function saveFilm(session: Session): Promise<void> {
  const { saveFilm: save } = await import("./map/film");
  await save(session, `${fileName(session)}.mp4`);
}

/** Copy a link to what is shown, or the command that opens it on any machine with dwell. */
export async function copyLink(session: Session, command = false): Promise<void> {
  const link = await session.link();
  const anew = startsAnew(session);
  const where = `It opens where dwell serve runs on port ${location.port || "80"}; elsewhere: dwell serve 'LINK'.`;
  try {
    await navigator.clipboard.writeText(command ? `dwell serve '${link}'` : link);
    session.say(
      command
        ? `The command is copied; it opens this in the browser of any machine with dwell.${anew}`
        : `The link is copied, and in the address bar. ${where}${anew}`,
    );
  } catch {
    session.say(`The link is in the address bar. ${where}${anew}`);
  }
}

/** One file that plays the runs that are shown, side by side. */
export async function saveHtml(session: Session): Promise<void> {
  const done = session.store.get().lanes.filter((lane) => lane.summary && !lane.recorded);
  if (!done.length) return session.say("A file that plays needs a run that is done; press Run first.");
  const name = `${fileName(session)}.html`;
  const part = partOf(done[0]);
  try {
    session.say(`${name} is being written${part}.`);
    download(await htmlOf(done.map((lane) => lane.timeline.last?.id ?? "")), name);
    session.say(`${name} is saved; it plays in any browser, without a server${part}.`);
  } catch (error) {
    session.fail(error);
  }
}
