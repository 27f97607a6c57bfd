/** Templates, files, exports, the link, colours and help. */

import { useMemo, useRef } from "preact/hooks";
import { asText, fileOf, filmOf } from "../net/api";
import type { ThemeChoice } from "../state/link";
import type { Session } from "../state/session";
import { useApp, useSession } from "./context";
import { openFile } from "./files";
import { FilmLength } from "./FilmLength";
import { download } from "./map/exports";

/** A file name made of the scenario's name. */
function fileName(session: Session): string {
  const name = session.store.get().scenario?.name ?? "scenario";
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "scenario"
  );
}

async function saveScenario(session: Session): Promise<void> {
  const { scenario } = session.store.get();
  if (!scenario) return;
  try {
    download(new Blob([await asText(scenario)], { type: "application/toml" }), `${fileName(session)}.toml`);
  } catch (error) {
    session.fail(error);
  }
}

async function saveRun(session: Session, what: "nc" | "gif"): Promise<void> {
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
async function savePicture(session: Session, what: "png" | "svg"): Promise<void> {
  const { savePng, saveSvg } = await import("./map/pictures");
  (what === "png" ? savePng : saveSvg)(session, fileName(session));
}

async function saveFilm(session: Session): Promise<void> {
  const { saveFilm: save } = await import("./map/film");
  await save(session, `${fileName(session)}.mp4`);
}

async function copyLink(session: Session): Promise<void> {
  const link = await session.link();
  try {
    await navigator.clipboard.writeText(link);
    session.say("The link to this scenario is copied; it is in the address bar too.");
  } catch {
    session.say("The link to this scenario is in the address bar.");
  }
}

function close(e: Event): void {
  (e.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
}

export function Header() {
  const session = useSession();
  const templates = useApp((app) => app.templates);
  const scenario = useApp((app) => app.scenario);
  const theme = useApp((app) => app.theme);
  const file = useRef<HTMLInputElement>(null);
  const open = async (input: HTMLInputElement): Promise<void> => {
    const chosen = input.files?.[0];
    if (chosen) await openFile(session, chosen);
    input.value = "";
  };
  // One that was changed is no template any more: choosing that again brings it back as it was.
  const known = useMemo(() => {
    const now = JSON.stringify(scenario);
    return templates.find((one) => JSON.stringify(one.scenario) === now);
  }, [templates, scenario]);
  const own = templates.some((one) => one.title === scenario?.name)
    ? `${scenario?.name}, changed`
    : scenario?.name;
  return (
    <header class="top">
      <h1>dwell</h1>
      <label class="template">
        <span class="hidden">Template</span>
        <select
          value={known?.name ?? ""}
          onChange={(e) => {
            const found = templates.find((one) => one.name === e.currentTarget.value);
            if (found) void session.open(found.scenario);
          }}
        >
          {!known && <option value="">{own ?? "own scenario"}</option>}
          {templates.map((one) => (
            <option key={one.name} value={one.name} title={one.about}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
      <button class="plain strong" onClick={() => void session.run()} title="Run from the beginning (R)">
        Run
      </button>
      <span class="gap" />
      <input
        ref={file}
        type="file"
        accept=".toml,.json,.geojson,.png,.jpg,.jpeg"
        class="hidden"
        tabIndex={-1}
        aria-label="Scenario file"
        onChange={(e) => void open(e.currentTarget)}
      />
      <button
        class="plain"
        onClick={() => file.current?.click()}
        title="Open a scenario (TOML or JSON), an outline (GeoJSON) or a picture of the density (O)"
      >
        Open
      </button>
      <button class="plain" onClick={() => void saveScenario(session)} title="Save the scenario as TOML (S)">
        Save
      </button>
      <ExportMenu />
      <button
        class="plain"
        onClick={() => void copyLink(session)}
        title="Copy a link that holds the scenario (L)"
      >
        Link
      </button>
      <label class="theme">
        <span class="hidden">Colours</span>
        <select
          value={theme}
          onChange={(e) => session.setTheme(e.currentTarget.value as ThemeChoice)}
          title="Colours"
        >
          <option value="system">Auto</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <button
        class="plain"
        onClick={() => session.store.set({ help: true })}
        aria-label="Help and keys"
        title="Help and keys (?)"
      >
        ?
      </button>
    </header>
  );
}

/** What can be saved; what cannot says why. */
function ExportMenu() {
  const session = useSession();
  const lanes = useApp((app) => app.lanes);
  useApp((app) => app.word);
  const done = lanes.some((lane) => lane.summary);
  const none = done ? "" : lanes.some((lane) => lane.working) ? "when the run is done" : "needs a run first";
  const noFilm = "VideoEncoder" in window ? none : "this browser encodes no films";
  return (
    <details class="menu">
      <summary>Export</summary>
      <div class="menu-body">
        <Item name="Map as PNG" save={() => void savePicture(session, "png")} />
        <Item name="Map as SVG" save={() => void savePicture(session, "svg")} />
        <Item name="Film as MP4" but={noFilm} save={() => void saveFilm(session)} />
        <Item name="Film as GIF" but={none} save={() => void saveRun(session, "gif")} />
        <FilmLength />
        <Item name="Run as NetCDF" but={none} save={() => void saveRun(session, "nc")} />
      </div>
    </details>
  );
}

function Item({ name, but = "", save }: { name: string; but?: string; save: () => void }) {
  const act = (e: Event): void => {
    close(e);
    save();
  };
  return (
    <button disabled={but !== ""} onClick={act} aria-label={but ? `${name}: ${but}` : name}>
      {name}
      {but && <span class="but">{but}</span>}
    </button>
  );
}
