/** Files, exports and the link. */

import {
  copyLink,
  FILE_INPUT,
  pickFile,
  saveFilm,
  saveHtml,
  savePicture,
  saveRun,
  saveScenario,
} from "./actions";
import { useApp, useSession } from "./context";
import { FileInput } from "./FileInput";
import { FilmLength } from "./FilmLength";

function close(e: Event): void {
  (e.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
}

export function FileTools() {
  const session = useSession();
  return (
    <>
      <FileInput id={FILE_INPUT} accept=".toml,.json,.geojson,.png,.jpg,.jpeg" name="Scenario file" />
      <button
        class="plain"
        onClick={pickFile}
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
        title="Copy a link that holds scenario, laws, time and view (L)"
      >
        Link
      </button>
    </>
  );
}

/** What can be saved; what cannot says why. */
function ExportMenu() {
  const session = useSession();
  const lanes = useApp((app) => app.lanes);
  useApp((app) => app.laneVersion);
  const done = lanes.some((lane) => lane.summary && !lane.recorded);
  const none = done
    ? ""
    : lanes.some((lane) => lane.working)
      ? "when the run is done"
      : lanes.some((lane) => lane.recorded)
        ? "this run is recorded; press Run first"
        : "needs a run first";
  const noRun = lanes.some((lane) => lane.summary) ? "" : none; // a recorded run can be filmed, too
  const noFilm = "VideoEncoder" in window ? noRun : "this browser encodes no films";
  return (
    <details class="menu">
      <summary>Export</summary>
      <div class="menu-body">
        <Item name="Map as PNG" save={() => void savePicture(session, "png")} />
        <Item name="Map as SVG" save={() => void savePicture(session, "svg")} />
        <Item name="Film as MP4" but={noFilm} save={() => void saveFilm(session)} />
        <Item name="Film as GIF" but={none} save={() => void saveRun(session, "gif")} />
        <FilmLength />
        <Item name="HTML that plays" but={none} save={() => void saveHtml(session)} />
        <Item name="Run as NetCDF" but={none} save={() => void saveRun(session, "nc")} />
        <Item name="Link as a command" save={() => void copyLink(session, true)} />
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
    <button disabled={but !== ""} onClick={act}>
      {name}
      {but && <span class="but"> {but}</span>}
    </button>
  );
}
