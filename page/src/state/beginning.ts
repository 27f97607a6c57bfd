/** Beginning: what the page shows when it is opened, and what a reload and a link bring back. */

import * as api from "../net/api";
import { readRecording } from "../net/recorded";
import type { Panel } from "./app";
import { LAWS } from "./laws";
import {
  FLEET,
  forget,
  fragmentOf,
  recall,
  remember,
  scenarioIn,
  shownIn,
  storedIn,
  type Memory,
  type Shown,
} from "./link";
import type { Session } from "./session";
import { keepAsking } from "./health_check";

/** Where a run lies that is shipped with the page. */
export const recordedAt = (name: string): string => `${import.meta.env.BASE_URL}recorded/${name}.bin`;

const FIRST = "two-hills"; // recorded: what the page shows first

export class Beginning {
  private fragment = "";

  constructor(private readonly session: Session) {}

  async begin(): Promise<void> {
    this.session.clock.onChange(() => this.keep());
    addEventListener("pagehide", () => this.keep());
    addEventListener("hashchange", () => void this.openFragment(location.hash));
    keepAsking(this.session.store, () => this.backAgain());
    await this.beginWith(recall());
  }

  /** What the tab had before a reload, else what the link holds, else a recorded run. */
  private async beginWith(memory: Memory | null): Promise<void> {
    const loading = this.loadTemplates();
    this.fragment = location.hash;
    if (memory && memory.fragment === location.hash && (await this.restore(memory))) return;
    if (await this.openFragment(location.hash)) return;
    const wrong = this.session.store.get().notice; // of the link or the memory; it must not be lost
    if (!(await this.showFirst())) {
      await loading;
      const first = this.session.store.get().templates[0];
      if (first) await this.session.open(first.scenario);
    }
    if (wrong && this.session.store.get().scenario) this.session.store.set({ notice: wrong });
  }

  /** A run that needs no worker; it plays at once unless little motion is wanted. */
  private async showFirst(): Promise<boolean> {
    try {
      if (await this.showStored([recordedAt(FIRST)])) this.session.hint();
    } catch {
      return false; // the first template, then
    }
    this.session.startPending();
    return true;
  }

  /** Show and play recorded runs, unless something else is opened or changed meanwhile. */
  private async showStored(addresses: readonly string[]): Promise<boolean> {
    const { session } = this;
    const edit = ++session.edits;
    const runs = await Promise.all(addresses.map(readRecording));
    if (edit !== session.edits) return false;
    session.showRecorded(runs);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) session.clock.play();
    return true;
  }

  private async loadTemplates(): Promise<void> {
    try {
      const templates = await api.templates();
      this.session.store.set({ templates, offline: false });
    } catch (error) {
      this.session.fail(error);
    }
  }

  private async openFragment(fragment: string): Promise<boolean> {
    if (fragment === FLEET) return this.openFleet(fragment);
    const stored = storedIn(fragment);
    if (stored.length) return this.openStored(fragment, stored);
    if (!fragment.startsWith("#s=")) return false;
    this.fragment = fragment;
    const scenario = await scenarioIn(fragment);
    if (!scenario) {
      this.session.say("The link holds no scenario that can be read.", "error");
      return false;
    }
    if (!(await this.session.open(scenario))) return false;
    await this.showAs(shownIn(fragment));
    return true;
  }

  /** Stored runs that the server was started with. */
  private async openStored(fragment: string, addresses: readonly string[]): Promise<boolean> {
    this.fragment = fragment;
    try {
      if (await this.showStored(addresses)) this.session.store.set({ panel: "numbers" });
    } catch (error) {
      this.session.fail(error);
      return false;
    }
    this.session.startPending();
    return true;
  }

  /** The live fleet that the server follows. */
  private async openFleet(fragment: string): Promise<boolean> {
    const { session } = this;
    this.fragment = fragment;
    try {
      const { run, scenario, start } = await api.fleet();
      const { progress } = await api.runOf(run);
      session.edits++; // what is being requested must not overtake it
      session.take(scenario, start);
      const lane = session.runs.lane(scenario.controller.kind);
      session.runs.show([lane]);
      session.runs.wanted = progress * scenario.run.horizon;
      void lane.resume([{ id: run, offset: 0, jumps: 0, scenario }]);
    } catch (error) {
      session.fail(error);
      return false;
    }
    session.clock.setSpeed(1);
    session.clock.play();
    session.store.set({ panel: "numbers" });
    // A hidden page stands still: afterwards it goes where the fleet is.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && session.clock.playing) session.seek(session.runs.limit().known);
    });
    return true;
  }

  /** Run what a link shows, and go where it was. */
  private async showAs({ laws, t, view, play }: Shown): Promise<void> {
    const { session } = this;
    const known = laws.filter((kind) => LAWS.some((law) => law.kind === kind));
    if (known.length > 1) await session.compare(known);
    else if (t !== null || play) await session.run();
    if (view) session.setView(view);
    if (t === null && !play) return;
    if (!play) session.clock.pause();
    session.runs.wanted = t;
    session.runs.grew();
  }

  private async restore(memory: Memory): Promise<boolean> {
    if (!(await this.session.open(memory.scenario))) return false;
    this.session.store.set({ panel: memory.panel as Panel });
    this.session.clock.setSpeed(memory.speed);
    if (!memory.lanes.some((lane) => lane.records.length)) return true;
    const lanes = memory.lanes.map((lane) => this.session.runs.lane(lane.kind, lane.name, lane.origin));
    this.session.store.set({ lanes });
    this.session.runs.wanted = memory.t;
    await Promise.all(lanes.map((lane, k) => lane.resume(memory.lanes[k].records)));
    const since = Math.max(...lanes.map((lane) => lane.timeline.begin));
    if (since > 0) this.session.say(`What was before t = ${since.toFixed(2)} is not kept by the server.`);
    else if (memory.t > 0) this.session.hint();
    this.session.runs.grew();
    return true;
  }

  /** What a reload needs. */
  keep(): void {
    const { scenario, lanes, panel, story } = this.session.store.get();
    if (!scenario || story !== null) return;
    if (this.fragment === FLEET) return forget(); // it is there again at once
    if (lanes.some((lane) => lane.recorded)) return forget(); // it is there again at once
    remember({
      fragment: this.fragment,
      scenario,
      lanes: lanes.map(({ kind, name, origin, records }) => ({ kind, name, origin, records })),
      t: this.session.runs.wanted ?? this.session.clock.t,
      speed: this.session.clock.speed,
      panel,
    });
  }

  private backAgain(): void {
    const { scenario, templates } = this.session.store.get();
    if (!scenario) return void this.beginWith(recall());
    if (!templates.length) void this.loadTemplates();
    this.session.say("The server is there again.");
  }

  async link(): Promise<string> {
    const { session } = this;
    const { scenario, lanes } = session.store.get();
    if (!scenario) return location.href;
    this.fragment = await fragmentOf(scenario, {
      laws: [...new Set(lanes.map((lane) => lane.kind))],
      t: session.hasRun ? session.clock.t : null,
      view: session.view,
      play: session.clock.playing,
    });
    history.replaceState(null, "", this.fragment);
    this.keep();
    return location.href;
  }
}
