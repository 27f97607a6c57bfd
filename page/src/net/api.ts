/** The server's answers, as types, and one function for each question. */

import type { Start } from "../arc/arc";
import type { MovingTable, Phase, WorkspaceTable, WorldForm } from "../world/world";

export interface Problem {
  readonly code: string;
  readonly key: string | null;
  readonly message: string;
}

export interface Job {
  readonly id: string;
  readonly status: "queued" | "warming" | "running" | "done" | "failed" | "cancelled";
  readonly position: number;
  readonly progress: number;
  readonly doing: string;
  readonly law: string;
  readonly agents: number;
  readonly dimension: number;
  readonly horizon: number;
  readonly events: number;
  readonly error: Problem | null;
}

const UNDER_WAY: ReadonlySet<string> = new Set(["queued", "warming", "running"]);

/** Whether more is to come of a job. */
export const isUnderWay = (job: Job | null): boolean => job !== null && UNDER_WAY.has(job.status);

export type Law = { kind: string } & Record<string, unknown>;

export interface Scenario {
  schema_version?: number;
  name?: string;
  workspace: WorkspaceTable;
  density?: MovingTable;
  agents: {
    start: (number | number[])[] | ({ count: number } & Record<string, unknown>);
    ids?: number[];
    radius?: number | number[];
    sensors?: string[][];
  };
  world?: (Phase & {
    readonly network?: Record<string, unknown>;
    readonly leave?: number[];
    readonly arrive?: number[][];
  })[];
  sensor?: { readonly name: string; readonly density: MovingTable }[];
  controller: Law;
  network?: Record<string, unknown>;
  certificate?: { eta_max: number; lipschitz: number | number[] };
  site?: Record<string, unknown>;
  run: { horizon: number; seed?: number } & Record<string, unknown>;
}

export interface Template {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly scenario: Scenario;
}

export interface Validated {
  readonly scenario: Scenario;
  readonly repairs: string[];
  readonly start: number[][];
  readonly workspace: Record<string, unknown>;
}

export interface Begin {
  readonly type: "begin";
  readonly start: Start;
  readonly fade: number | null;
  readonly nu: number | null;
  readonly eta_max: number | null;
  readonly world?: WorldForm | null; // null if it does not change
}

/** What is to be said of a run beside its figures, in the words of `dwell run`. */
export interface Remark {
  readonly label: string;
  readonly says: string;
  readonly broken: boolean; // whether something did not hold that the law or the theorem guarantees
}

/** A question that the server refused, in its own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.message);
  }
}

/** As a sentence: the server begins with a key, in lower case. */
export const sentence = (error: unknown): string => {
  const said = error instanceof Error ? error.message : String(error);
  return said.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase());
};

/** No answer at all. */
export class Unreachable extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch {
    throw new Unreachable();
  }
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => null)) as { error?: Problem } | null;
  const fallback = { code: "http", key: null, message: `The server answered ${answer.status}.` };
  throw new Refusal(answer.status, said?.error ?? fallback);
}

function post(
  path: string,
  body: string,
  type = "application/json",
  signal?: AbortSignal,
): Promise<Response> {
  return ask(path, { method: "POST", body, headers: { "Content-Type": type }, ...(signal && { signal }) });
}

const data = async <T>(answer: Promise<Response>): Promise<T> => (await (await answer).json()) as T;

export const health = (): Promise<{ ok: boolean; version: string; films: string[]; warming: boolean }> =>
  data(ask("/api/health"));

export const templates = async (): Promise<Template[]> =>
  (await data<{ templates: Template[] }>(ask("/api/templates"))).templates;

export const validate = (scenario: Scenario): Promise<Validated> =>
  data(post("/api/validate", JSON.stringify(scenario)));

export const parse = async (text: string): Promise<Scenario> =>
  (await data<{ scenario: Scenario }>(post("/api/scenario/parse", text, "text/plain"))).scenario;

/** An outline in metres: its workspace, what was repaired in it, and its place on the Earth where that is known. */
export interface Outline {
  readonly workspace: WorkspaceTable;
  readonly repairs: readonly string[];
  readonly site?: Record<string, unknown> | null;
}

/** The workspace, in metres, of an outline whose coordinates are degrees or have a system of their own. */
export const site = (geoJson: string, name: string): Promise<Outline> =>
  data(post(`/api/site?name=${encodeURIComponent(name)}`, geoJson, "text/plain"));

export const asText = async (scenario: Scenario): Promise<string> =>
  (await post("/api/scenario/text", JSON.stringify(scenario))).text();

/** What `dwell design --json` prints, as far as the page shows it. */
export interface Designed {
  readonly eta_max: number;
  readonly assumed_lipschitz: number | readonly number[];
  readonly feasible: boolean;
  readonly verdict: string;
  readonly in_practice: string | null;
  readonly theorem?: string;
  readonly not_applicable?: Readonly<Record<string, readonly string[]>>;
  readonly reasons: readonly string[];
  readonly advice: readonly DesignAdvice[];
  readonly advice_measured: readonly DesignAdvice[];
  readonly advice_proved?: readonly DesignAdvice[];
  readonly notes: readonly string[];
}

export interface DesignAdvice {
  readonly says: string;
  readonly possible: boolean;
}

/** The same as `dwell design`, with constants measured along a run. */
export const design = (scenario: Scenario, signal?: AbortSignal): Promise<Designed> =>
  data(post("/api/design?measure=true", JSON.stringify(scenario), "application/json", signal));

export const startRun = (scenario: Scenario): Promise<Job> =>
  data(post("/api/runs?live=true", JSON.stringify(scenario)));

export const fleet = (): Promise<{ run: string; scenario: Scenario; start: number[][] }> =>
  data(ask("/api/fleet"));

export const runOf = (id: string): Promise<Job & { summary: unknown }> => data(ask(`/api/runs/${id}`));

export const cancel = async (id: string): Promise<void> => {
  await ask(`/api/runs/${id}`, { method: "DELETE" });
};

export const fileOf = async (id: string): Promise<Blob> => (await ask(`/api/runs/${id}/file`)).blob();

export const filmOf = async (id: string, format: "gif", seconds: number): Promise<Blob> =>
  (await ask(`/api/runs/${id}/film?format=${format}&seconds=${seconds}`)).blob();

export const htmlOf = async (ids: readonly string[]): Promise<Blob> =>
  (await ask(`/api/html?${ids.map((id) => `run=${encodeURIComponent(id)}`).join("&")}`)).blob();
