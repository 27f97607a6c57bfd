/** The page. */

import { useEffect } from "preact/hooks";
import type { Panel } from "../state/app";
import { useApp, useSession, useTheme } from "./context";
import { listenToDrops } from "./drops";
import { Header } from "./Header";
import { lazy, preload } from "./lazy";
import { Maps } from "./map/Maps";
import { Status } from "./Status";
import { Transport } from "./Transport";
import "./fingers.css";
import "./screens.css";

const PANELS: readonly { panel: Panel; name: string }[] = [
  { panel: "guide", name: "Guide" },
  { panel: "numbers", name: "Numbers" },
  { panel: "design", name: "Design" },
  { panel: "compare", name: "Compare" },
  { panel: "scenario", name: "Scenario" },
];

const PRELOAD_AFTER = 1000; // milliseconds: what is seen first comes first

const Guide = lazy(async () => (await import("./Guide")).Guide);
const Help = lazy(async () => (await import("./Help")).Help, "");
const Numbers = lazy(async () => (await import("./Numbers")).Numbers);
const Design = lazy(async () => (await import("./design/Design")).Design);
const Compare = lazy(async () => (await import("./Compare")).Compare);
const Race = lazy(async () => (await import("../race/Race")).Race);
const Scenario = lazy(async () => (await import("./scenario/ScenarioPanel")).ScenarioPanel);
const MapTools = lazy(async () => (await import("./MapTools")).MapTools, "\u00a0");
const SensorLine = lazy(async () => (await import("./SensorLine")).SensorLine, "");
const Story = lazy(async () => (await import("../story/Story")).Story);

/** The fragment of the address is for scenarios: a reload would not find the run under another one. */
function skip(e: MouseEvent): void {
  e.preventDefault();
  document.getElementById("panel")?.focus();
}

export function App() {
  const session = useSession();
  const theme = useTheme();
  const choice = useApp((app) => app.theme);
  const helped = useApp((app) => app.help);
  const several = useApp((app) => app.lanes.length > 1);
  const inStory = useApp((app) => app.story !== null);
  useEffect(() => {
    let off = (): void => undefined;
    let over = false;
    import("./keys")
      .then(({ listenToKeys }) => {
        if (over) return;
        off = listenToKeys(session);
        document.documentElement.dataset["keys"] = "ready";
      })
      .catch((error: unknown) => session.fail(error));
    return () => {
      over = true;
      off();
    };
  }, [session]);
  const name = useApp((app) => app.scenario?.name);
  useEffect(() => {
    document.title = name ? `${name} · dwell` : "dwell";
  }, [name]);
  useEffect(() => listenToDrops(session), [session]);
  useEffect(() => {
    setTimeout(() => void preload(), PRELOAD_AFTER);
  }, []);
  useEffect(() => {
    document.documentElement.dataset["theme"] = choice === "system" ? "" : choice;
    document.documentElement.dataset["shown"] = theme.name;
  }, [choice, theme]);
  return (
    <>
      <a class="skip" href="#panel" onClick={skip}>
        Skip to the panel
      </a>
      <Header />
      <main class={inStory ? "main in-story" : several ? "main race-main" : "main"}>
        <section class="stage" aria-label="Map and time">
          <h2 class="hidden">Map and time</h2>
          {!inStory && <MapTools />}
          <Maps />
          <SensorLine />
          <Status />
          <Transport />
          {several && !inStory && <Race />}
          <p id="map-keys" class="hidden">
            Brackets choose an agent, a peak or a vertex, arrows move it, A adds one, Delete removes it; plus,
            minus and zero zoom, Control and arrows move the map. While a ring is drawn or the density
            painted, arrows move the cursor, and A puts a vertex or paints. In space arrows turn the view.
          </p>
        </section>
        {inStory ? (
          <aside class="side" aria-label="Story" id="panel" tabIndex={-1}>
            <Story />
          </aside>
        ) : (
          <Side />
        )}
      </main>
      {helped && <Help />}
    </>
  );
}

function Side() {
  const session = useSession();
  const panel = useApp((app) => app.panel);
  const turn = (e: KeyboardEvent): void => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    e.stopPropagation();
    const at = PANELS.findIndex((one) => one.panel === panel);
    const next = PANELS[(at + by + PANELS.length) % PANELS.length].panel;
    session.store.set({ panel: next });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside class="side" aria-label="Panels">
      <div class="tabs" role="tablist" onKeyDown={turn}>
        {PANELS.map((one) => (
          <button
            key={one.panel}
            id={`tab-${one.panel}`}
            role="tab"
            aria-selected={panel === one.panel}
            aria-controls="panel"
            tabIndex={panel === one.panel ? 0 : -1}
            onClick={() => session.store.set({ panel: one.panel })}
          >
            {one.name}
          </button>
        ))}
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${panel}`} tabIndex={0}>
        {panel !== "guide" && <h2 class="hidden">{PANELS.find((one) => one.panel === panel)?.name}</h2>}
        {panel === "guide" && <Guide />}
        {panel === "numbers" && <Numbers />}
        {panel === "design" && <Design />}
        {panel === "compare" && <Compare />}
        {panel === "scenario" && <Scenario />}
      </div>
    </aside>
  );
}
