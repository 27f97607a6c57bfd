/**
 * The entry of the player. In a file of its own it plays the runs that the document holds; a
 * notebook calls `render`, which plays them inside of an element of the notebook.
 */

import { render as draw } from "preact";
import "../style.css";
import { openRecorded, type Source } from "../net/recorded";
import { expose } from "../panels/console";
import { SessionContext } from "../panels/context";
import type { ThemeChoice } from "../state/link";
import { Session } from "../state/session";
import { Player } from "./Player";

const PLACE = "page";
const RUNS = "script[type='application/x-dwell-run']";

/** The bytes of a text; none where it was cut off, which their reader then says. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}

/** Show a player in an element, and some recorded runs in it. */
function show(
  sources: readonly Source[],
  place: HTMLElement,
  root: HTMLElement,
  keys: HTMLElement | Window,
  plays: boolean,
): Session {
  const session = new Session(true);
  place.textContent = "";
  draw(
    <SessionContext.Provider value={session}>
      <Player root={root} keys={keys} />
    </SessionContext.Provider>,
    place,
  );
  openRecorded(session, ...sources).then(
    () => plays && session.clock.play(),
    (error: unknown) => session.fail(error),
  );
  return session;
}

/** What a notebook hands over, in the words of anywidget. */
interface Model {
  get(name: "recordings"): DataView<ArrayBuffer> | ArrayBuffer;
  get(name: "sizes"): number[];
  get(name: "sheet"): string;
  get(name: "height"): number;
}

/** Play the runs of a notebook's widget; its sheet holds inside of it alone. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = document.createElement("div");
  host.style.height = `${model.get("height")}px`;
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = document.createElement("style");
  sheet.textContent = model
    .get("sheet")
    .replace(/:root\[([^\]]*)\]/g, ":host([$1])")
    .replace(/:root/g, ":host");
  const place = document.createElement("div");
  place.id = PLACE;
  place.className = "player inside";
  shadow.append(sheet, place);
  el.append(host);
  const session = show(partsOf(model), place, host, place, false);
  session.store.set({ theme: themeAround() });
  return () => {
    draw(null, place);
    session.clock.close();
  };
}

function partsOf(model: Model): Uint8Array<ArrayBuffer>[] {
  const all = model.get("recordings");
  const { buffer, byteOffset } = all instanceof ArrayBuffer ? new DataView(all) : all;
  let at = byteOffset;
  return model.get("sizes").map((size) => new Uint8Array(buffer, (at += size) - size, size));
}

/** The colours of a notebook: JupyterLab, VS Code and marimo say on their body whether they are dark. */
function themeAround(): ThemeChoice {
  const { body } = document;
  const light = body.dataset["jpThemeLight"];
  if (light !== undefined) return light === "false" ? "dark" : "light";
  const dark = [body, document.documentElement].some((one) =>
    one.matches(".dark, .dark-theme, .vscode-dark"),
  );
  const bright = [body, document.documentElement].some((one) =>
    one.matches(".light, .light-theme, .vscode-light"),
  );
  return dark ? "dark" : bright ? "light" : "system";
}

export default { render };

const held = [...document.querySelectorAll(RUNS)].map((one) => bytesOf(one.textContent ?? ""));
const place = document.getElementById(PLACE);
if (place && held.length) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  expose(show(held, place, document.documentElement, window, !still));
}
