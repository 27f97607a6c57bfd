/** Runs: the lanes that are shown, how far they reach, and others in their place once the server takes them. */

import { placeIn } from "../geometry/workspace";
import type { Scenario } from "../net/api";
import type { AppState } from "./app";
import type { Clock } from "./clock";
import { goingOn, type Places } from "./edits";
import type { Shown } from "./history";
import { Lane } from "./lane";
import { kindsWith, type Origin } from "./laws";
import type { Store } from "./store";
import { numbersOf, World, worldOf } from "../world/world";

const LEAST_REST = 1 / 3; // of the horizon: so long a run goes on after a change near its end
const GROW_EVERY = 200; // milliseconds between two redrawings of the charts while rows come

/** What came of asking: another request came in between, or the server took none, some or all. */
export type Answer = "late" | "none" | "some" | "all";

export interface Host {
  readonly store: Store<AppState>;
  readonly clock: Clock;
  fail(error: unknown): void;
  keep(): void;
}

export class Runs {
  /** The time to go to when it is known, after a reload or a step back. */
  wanted: number | null = null;
  private growing = 0;
  private turn = 0; // of asking: what comes late is not wanted any more
  private forkTurn = 0;

  constructor(private readonly host: Host) {}

  get lanes(): readonly Lane[] {
    return this.host.store.get().lanes;
  }

  /** Whether there is anything to show. */
  get any(): boolean {
    return this.lanes.some((lane) => lane.timeline.pieces.length > 0);
  }

  /** Whether the run is being changed on the way, and the server has not yet answered. */
  get forking(): boolean {
    return this.forkTurn === this.turn && this.host.store.get().asking;
  }

  limit(): { known: number; end: number } {
    // A law that cannot be run does not keep the others from it.
    const lanes = this.lanes.filter((lane) => lane.working || lane.timeline.pieces.length > 0);
    if (!lanes.length) return { known: 0, end: 0 };
    const end = Math.max(...lanes.map((lane) => lane.end));
    const going = lanes.filter((lane) => lane.known < lane.end); // those that have ended limit nothing
    return { known: going.length ? Math.min(...going.map((lane) => lane.known)) : end, end };
  }

  /** How many jumps a lane shows. The clock's own jump is one of the first lane. */
  jumpOf(lane: Lane): number {
    const { t, jump } = this.host.clock;
    return jump !== null && lane === this.lanes[0] ? jump : lane.timeline.jumpsUntil(t);
  }

  seek(t: number): void {
    this.wanted = null;
    const begin = Math.max(0, ...this.lanes.map((lane) => lane.timeline.begin));
    this.host.clock.seek(Math.max(begin, Math.min(t, this.limit().known)));
  }

  /** One jump forward or back, on the first lane. */
  step(by: number): void {
    const { clock } = this.host;
    const lane = this.lanes[0];
    const now = this.jumpOf(lane);
    const onJump = lane.timeline.timeOf(now) === clock.t;
    const jump = Math.min(
      Math.max(lane.timeline.pieces[0].jumps, by < 0 && !onJump ? now : now + by),
      lane.timeline.jumps,
    );
    clock.seek(lane.timeline.timeOf(jump), jump);
  }

  lane(kind: string, name?: string, origin?: Origin | null): Lane {
    return new Lane(kind, { changed: () => this.changed(), grew: () => this.grew() }, name, origin);
  }

  private changed(): void {
    const { store, clock } = this.host;
    store.set({ laneVersion: store.get().laneVersion + 1 });
    clock.touch();
    this.host.keep();
  }

  /** Rows came. */
  grew(): void {
    const { store, clock } = this.host;
    clock.touch();
    if (this.wanted !== null && this.limit().known >= this.wanted) this.seek(this.wanted);
    if (this.growing) return;
    this.growing = window.setTimeout(() => {
      this.growing = 0;
      store.set({ version: store.get().version + 1 });
    }, GROW_EVERY);
  }

  /** Lanes in place of those that are there. */
  show(lanes: readonly Lane[]): void {
    const { lanes: before, laneVersion, version } = this.host.store.get();
    this.wanted = null;
    for (const lane of before) if (!lanes.includes(lane)) lane.close();
    this.host.store.set({ lanes, laneVersion: laneVersion + 1, version: version + 1 });
    this.host.clock.touch();
  }

  /** A run of before again, at the time that was shown of it. */
  bring({ lanes, t, jump }: Shown): void {
    this.forgetRequested();
    this.host.clock.pause();
    this.show(lanes);
    for (const lane of lanes) void lane.revive();
    this.wanted = lanes.some((lane) => lane.working) ? t : null;
    this.host.clock.seek(t, jump);
  }

  /** Several laws stay side by side; with a new law of the scenario, `own`, their kinds do, and it is among them. */
  clear(own: string | null): void {
    this.forgetRequested();
    const { lanes } = this;
    const kinds = own
      ? kindsWith(
          own,
          lanes.map((lane) => lane.kind),
        )
      : [];
    const next = own ? kinds.map((kind) => this.lane(kind)) : lanes.map((lane) => lane.blank());
    this.show(next.length > 1 ? next : []);
  }

  /** Runs that were requested and not yet taken are not wanted any more. */
  forgetRequested(): void {
    this.turn++;
    this.host.store.set({ asking: false });
  }

  /** A scenario from the beginning, in each of some lanes. */
  launch(scenario: Scenario, lanes: readonly Lane[]): Promise<Answer> {
    return this.ask(lanes, (lane) => lane.run(lane.scenarioFor(scenario)), "some");
  }

  /** Another way from here on, from where all agents are now or where `places` puts them. */
  fork(scenario: Scenario, places: (now: Places) => Places): Promise<Answer> {
    const { lanes } = this;
    const { t } = this.host.clock;
    this.forkTurn = this.turn + 1;
    const go = async (branch: Lane, k: number): Promise<void> => {
      const jump = this.jumpOf(lanes[k]);
      const state = lanes[k].stateAt(t, jump);
      if (!state) return;
      const n = state.dimension;
      const now = numbersOf(state.present).map((p) => Array.from(state.positions.subarray(p * n, p * n + n)));
      const own = branch.scenarioFor(scenario);
      const region = new World(worldOf(own)).regionAt(t); // a changed one may have left some outside
      const horizon = Math.max(branch.timeline.end - t, LEAST_REST * own.run.horizon);
      const part = branch.timeline.pieces.length;
      const next = goingOn(
        own,
        places(now).map((z) => placeIn(region, z)),
        horizon,
        part,
        t,
      );
      await branch.run(next, t, jump);
    };
    return this.ask(
      lanes.map((lane) => lane.branch()),
      go,
      "all",
    );
  }

  /**
   * Ask for a run in each of some lanes. They are shown once the server has taken as many as are
   * needed; until then, and if it does not, everything stays as it is.
   */
  private async ask(
    lanes: readonly Lane[],
    run: (lane: Lane, k: number) => Promise<void>,
    needed: "some" | "all",
  ): Promise<Answer> {
    const turn = ++this.turn;
    this.host.store.set({ asking: true });
    const answers = await Promise.allSettled(lanes.map(run));
    const wrong = answers.filter((one) => one.status === "rejected");
    const late = turn !== this.turn;
    const enough = !late && wrong.length <= (needed === "all" ? 0 : lanes.length - 1);
    if (enough) this.show(lanes);
    else for (const lane of lanes) lane.close();
    if (late) return "late";
    this.host.store.set({ asking: false });
    if (wrong.length) this.host.fail(wrong[0].reason);
    return !enough ? "none" : wrong.length ? "some" : "all";
  }
}
