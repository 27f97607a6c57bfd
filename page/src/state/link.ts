/** Links that hold a scenario, and what a tab remembers over a reload. */

import type { Scenario } from "../net/api";
import type { Record } from "./lane";

const MARK = "#s=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const passed = new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  return new Uint8Array(await new Response(passed).arrayBuffer());
}

const toText = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

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
    return JSON.parse(new TextDecoder().decode(bytes)) as Scenario;
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

export function recall(): Memory | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Memory | null;
  } catch {
    return null;
  }
}
