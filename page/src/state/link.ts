/** Links that hold a scenario, and what a tab and a browser remember. */

import type { Scenario } from "../net/api";
import type { Record } from "./lane";

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

/** The fragment of an address that holds a scenario. */
export async function fragmentOf(scenario: Scenario): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(scenario)) as Uint8Array<ArrayBuffer>;
  return MARK + toText(await through(bytes, new CompressionStream("deflate-raw")));
}

/** The scenario in a fragment; null if there is none or it cannot be read. */
export async function scenarioIn(fragment: string): Promise<Scenario | null> {
  if (!fragment.startsWith(MARK)) return null;
  try {
    const bytes = await through(toBytes(fragment.slice(MARK.length)), new DecompressionStream("deflate-raw"));
    const found: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof found === "object" && !Array.isArray(found) ? (found as Scenario | null) : null;
  } catch {
    return null;
  }
}

export interface Memory {
  readonly fragment: string;
  readonly scenario: Scenario;
  readonly lanes: readonly { kind: string; records: readonly Record[] }[];
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
