/** What buttons and keys of the page do with files, the link and the map. */

import { asText, fileOf, filmOf } from "../net/api";
import type { Session } from "../state/session";
import { download } from "./map/exports";

export const FILE_INPUT = "scenario-file";

/** A file name made of the scenario's name. */
export function fileName(session: Session): string {
  const name = session.store.get().scenario?.name ?? "scenario";
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "scenario"
  );
}

/** Let a person choose a file. */
export const pickFile = (): void => document.getElementById(FILE_INPUT)?.click();

export const focusMap = (): void => document.querySelector<HTMLElement>(".map-canvas")?.focus();

export async function saveScenario(session: Session): Promise<void> {
  const { scenario } = session.store.get();
  if (!scenario) return;
  try {
    download(new Blob([await asText(scenario)], { type: "application/toml" }), `${fileName(session)}.toml`);
  } catch (error) {
    session.fail(error);
  }
}

export async function saveRun(session: Session, what: "nc" | "gif"): Promise<void> {
  const { lanes } = session.store.get();
  const done = lanes.filter((lane) => lane.summary);
  if (!done.length) return session.say("A film or a file needs a run that is done; press Run first.");
  const since = done[0].timeline.last?.offset ?? 0;
  const part = since > 0 ? `; it holds the part from t = ${since.toFixed(2)} on` : "";
  const names = done.map((lane) => `${fileName(session)}${lanes.length > 1 ? `-${lane.kind}` : ""}.${what}`);
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

export async function copyLink(session: Session): Promise<void> {
  const link = await session.link();
  try {
    await navigator.clipboard.writeText(link);
    session.say("The link to this scenario is copied; it is in the address bar too.");
  } catch {
    session.say("The link to this scenario is in the address bar.");
  }
}
