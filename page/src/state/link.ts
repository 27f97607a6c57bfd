/** Links that hold a scenario, and what a tab and a browser remember. */

import type { View } from "../map/view";
import type { Scenario } from "../net/api";
import type { Record } from "./lane";
import type { Origin } from "./laws";

const MARK = "#s=";

export const LONGEST = 1_000_000; // bytes of a scenario: no more is read by the server either

/** The bytes as they come out of a stream; a short link must not unpack to more than a scenario. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: GenericTransformStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const passed = new Blob([bytes])
    .stream()
    .pipeThrough(stream as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = passed.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value);
    size += next.value.length;
    if (size > LONGEST) {
      await reader.cancel();
      throw new Error(`more than ${LONGEST} bytes`);
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const toText = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

/** What a link holds beside the scenario: each may be absent. */
export interface Shown {
  readonly laws: readonly string[]; // side by side; the scenario's own alone if there are none
  readonly t: number | null; // of a run that is to be made; null if there is none
  readonly view: View | null;
  readonly play: boolean;
}

const NOTHING: Shown = { laws: [], t: null, view: null, play: false };

/** The fragment of an address that holds a scenario, and what is shown of it. */
export async function fragmentOf(scenario: Scenario, shown: Shown = NOTHING): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(scenario)) as Uint8Array<ArrayBuffer>;
  const { laws, t, view, play } = shown;
  const short = (value: number): string => String(Number(value.toPrecision(7)));
  return [
    MARK + toText(await through(bytes, new CompressionStream("deflate-raw"))),
    ...(laws.length > 1 ? [`laws=${laws.join()}`] : []),
    ...(t === null ? [] : [`t=${short(t)}`]),
    ...(view ? [`view=${[view.x, view.y, view.sx, view.sy].map(short).join()}`] : []),
    ...(play ? ["play=1"] : []),
  ].join("&");
}

/** The scenario in a fragment; null if there is none or it cannot be read. */
export async function scenarioIn(fragment: string): Promise<Scenario | null> {
  if (!fragment.startsWith(MARK)) return null;
  const packed = fragment.slice(MARK.length).split("&")[0];
  try {
    const bytes = await through(toBytes(packed), new DecompressionStream("deflate-raw"));
    const found: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof found === "object" && !Array.isArray(found) ? (found as Scenario | null) : null;
  } catch {
    return null;
  }
}

/** What a fragment says beside its scenario; what makes no sense is passed over. */
export function shownIn(fragment: string): Shown {
  const words = new URLSearchParams(fragment.slice(fragment.indexOf("&") + 1 || fragment.length));
  const numbers = (name: string): number[] => (words.get(name) ?? "").split(",").map(Number);
  const [t] = numbers("t");
  const [x, y, sx, sy] = numbers("view");
  const seen = [x, y, sx, sy].every(Number.isFinite) && sx > 0 && sy > 0;
  return {
    laws: words.get("laws")?.split(",") ?? [],
    t: words.has("t") && Number.isFinite(t) && t >= 0 ? t : null,
    view: words.has("view") && seen ? { x, y, sx, sy } : null,
    play: words.get("play") === "1",
  };
}

/** The fragment of a page that follows a live fleet. */
export const FLEET = "#f";

const STORED = "#r=";

/** The addresses of the stored runs that `dwell serve RUN.nc` offers, if the fragment is about them. */
export function storedIn(fragment: string): string[] {
  const count = fragment.startsWith(STORED) ? Number(fragment.slice(STORED.length)) : 0;
  return Number.isInteger(count) && count > 0 && count < 100
    ? Array.from({ length: count }, (_, k) => `/api/recorded/${k}`)
    : [];
}

export interface Memory {
  readonly fragment: string;
  readonly scenario: Scenario;
  readonly lanes: readonly {
    readonly kind: string;
    readonly name: string;
    readonly origin: Origin | null;
    readonly records: readonly Record[];
  }[];
  readonly t: number;
  readonly speed: number;
  readonly panel: string;
}

const KEY = "dwell.tab";

export function remember(memory: Memory): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(memory));
  } catch {
    // Without storage a reload begins anew; nothing else is lost.
  }
}

export function forget(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was stored either.
  }
}

export function recall(): Memory | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Memory | null;
  } catch {
    return null;
  }
}

export type ThemeChoice = "system" | "light" | "dark";

const THEME = "dwell.theme";

/** The colours that were chosen on this machine; where nothing may be stored, those of the system. */
export function chosenTheme(): ThemeChoice {
  try {
    const found = localStorage.getItem(THEME);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

export function keepTheme(theme: ThemeChoice): void {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // It holds until the page is closed.
  }
}
