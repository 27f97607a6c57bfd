/** The player: maps, charts and time of recorded runs, without a server. */

import { useEffect } from "preact/hooks";
import { useApp, useSession, useTheme } from "../panels/context";
import { listenToKeys } from "../panels/keys";
import { Maps } from "../panels/map/Maps";
import { Help } from "../panels/Help";
import { MapTools } from "../panels/MapTools";
import { Numbers } from "../panels/Numbers";
import { SensorLine } from "../panels/SensorLine";
import { Status } from "../panels/Status";
import { Transport } from "../panels/Transport";
import "../panels/fingers.css";
import { Race } from "../race/Race";
import { lawInWords } from "../state/matching";
import "./player.css";

/** `root` has the colours, `keys` is where keys are listened to. */
export function Player({ root, keys }: { root: HTMLElement; keys: HTMLElement | Window }) {
  const session = useSession();
  const theme = useTheme();
  const choice = useApp((app) => app.theme);
  const name = useApp((app) => app.scenario?.name);
  const laws = useApp((app) => app.lanes.map((lane) => lane.name).join(", "));
  const helped = useApp((app) => app.help);
  const several = useApp((app) => app.lanes.length > 1);
  useEffect(() => listenToKeys(session, keys), [session, keys]);
  useEffect(() => {
    root.dataset["theme"] = choice === "system" ? "" : choice;
    root.dataset["shown"] = theme.name;
  }, [root, choice, theme]);
  return (
    <>
      <header class="top">
        <h1>{name ?? "dwell"}</h1>
        <span class="dim">{laws}</span>
        <span class="gap" />
        <button
          class="plain"
          onClick={() => session.store.set({ help: true })}
          aria-label="Help and keys"
          title="Help and keys (?)"
        >
          ?
        </button>
      </header>
      <main class={several ? "main race-main" : "main"}>
        <section class="stage" aria-label="Map and time">
          <h2 class="hidden">Map and time</h2>
          <MapTools />
          <Maps />
          <SensorLine />
          <Status />
          <Transport />
          {several && <Race />}
          {several && <Laws />}
          <p id="map-keys" class="hidden">
            Left and right bracket choose an agent; plus, minus and zero zoom, Control and arrows move the
            map; Space plays, left and right go from jump to jump.
          </p>
        </section>
        {!several && (
          <aside class="side">
            <div class="panel" role="region" aria-label="Numbers" tabIndex={0}>
              <h2 class="hidden">Numbers</h2>
              <Numbers />
              <Laws />
            </div>
          </aside>
        )}
      </main>
      {helped && <Help />}
    </>
  );
}

/** The law of each run, with its parameters. */
function Laws() {
  const lanes = useApp((app) => app.lanes);
  useApp((app) => app.laneVersion);
  return (
    <section class="laws">
      <h3>Parameters</h3>
      {lanes.map((lane) => {
        const law = lane.timeline.last?.scenario.controller;
        return law && <p key={lane.name}>{`${lane.name}: ${lawInWords(law)}`}</p>;
      })}
    </section>
  );
}
