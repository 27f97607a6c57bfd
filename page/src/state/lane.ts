/** Lane: one law's run, from its first piece to the one under way. */

import { Arc, type ArcState } from "../arc/arc";
import { Timeline, type Piece } from "../arc/timeline";
import {
  startRun,
  cancel,
  isUnderWay,
  type Begin,
  type Job,
  type Problem,
  type Remark,
  type Scenario,
} from "../net/api";
import { Live, type Listener } from "../net/live";
import { readRecording, type Recording } from "../net/recorded";
import { chunkOf, type Frame } from "../net/wire";
import { changedLike, nameOf, underLaw, type Origin } from "./laws";
import { radiiOf, World, worldOf } from "../world/world";

/** What must be remembered of a piece to find it again after a reload. */
export interface Record {
  readonly id: string;
  readonly offset: number;
  readonly jumps: number;
  readonly scenario: Scenario;
  readonly address?: string | null; // of a recording
}

export interface LanePiece extends Piece, Record {
  readonly nu: number | null;
  readonly limit: number | null; // of the hold error
  readonly world: World; // in the time of the piece
  readonly radii: Float64Array | null; // how far each agent senses; null if that is unlimited
}

export type Summary = { stop?: { time?: number } } & { [key: string]: unknown };

/** In place of the number of a run that no server has. */
export const RECORDED = "";

/** The problem of a lane that did not get its run. */
const lostTo = (error: unknown): Problem => ({
  code: "gone",
  key: null,
  message: error instanceof Error ? error.message : String(error),
});

const PASSING: ReadonlySet<string> = new Set(["gone", "cancelled"]); // problems that another try may not have

export interface News {
  /** Something else than rows came: a message about the job, an end, a lost connection. */
  changed(): void;
  /** Rows came. */
  grew(): void;
}

export class Lane {
  timeline = new Timeline<LanePiece>();
  job: Job | null = null;
  lost = false;
  problem: Problem | null = null;
  summary: Summary | null = null;
  remarks: readonly Remark[] = []; // about the same part as the summary
  /** Where a piece was requested whose beginning is not there yet. */
  pendingAt: number | null = null;
  private pending: readonly Record[] = []; // requested, and not yet begun
  private live: Live | null = null;
  private readonly earlier: Live[] = []; // that fetch pieces of before a reload
  private requests = 0;
  private record: Record | null = null; // of the last piece that was requested
  private closed = false; // nothing is listened to; what is there stays

  /** With an origin it runs a scenario of its own; without one, that of the page under a law of this kind. */
  constructor(
    readonly kind: string,
    private readonly news: News,
    readonly name: string = nameOf(kind),
    readonly origin: Origin | null = null,
  ) {}

  /** A lane of this kind, name and origin without any run. */
  blank(): Lane {
    return new Lane(this.kind, this.news, this.name, this.origin);
  }

  /** What is run in this lane when the page shows a scenario. */
  scenarioFor(shown: Scenario): Scenario {
    return this.origin ? changedLike(this.origin, shown) : underLaw(shown, this.kind);
  }

  /** Whether all of it comes from a recording, so that no server has it. */
  get recorded(): boolean {
    return this.timeline.pieces.length > 0 && this.timeline.pieces.every((piece) => piece.id === RECORDED);
  }

  /** What a reload needs: pieces that have begun, and what waits in the queue. */
  get records(): Record[] {
    const begun = this.timeline.pieces.map(({ id, offset, jumps, scenario, address }) => ({
      id,
      offset,
      jumps,
      scenario,
      address,
    }));
    return [...begun, ...this.pending];
  }

  get known(): number {
    return this.pendingAt === null ? this.timeline.known : Math.min(this.pendingAt, this.timeline.known);
  }

  get end(): number {
    if (this.pendingAt !== null) return Infinity;
    return this.summary || this.problem ? this.timeline.known : this.timeline.end; // a run may stop before its horizon, or break off
  }

  get working(): boolean {
    return this.pendingAt !== null || isUnderWay(this.job);
  }

  /** Run a scenario from (t, j) on; from 0 it is all there is. */
  async run(scenario: Scenario, t = 0, jumps = 0): Promise<void> {
    const requested = ++this.requests;
    this.pendingAt = t;
    this.news.changed();
    try {
      const job = await startRun(scenario);
      if (requested !== this.requests) return void cancel(job.id).catch(() => undefined);
      this.drop(); // only now: a run that is refused must not end the one that is there
      this.closed = false;
      this.problem = null;
      this.summary = null;
      this.job = job;
      const record = { id: job.id, offset: t, jumps, scenario };
      this.pending = [record];
      this.record = record;
      this.listen(record);
    } catch (error) {
      if (requested === this.requests) this.failed(lostTo(error));
      throw error;
    }
    this.news.changed();
  }

  /** Find the pieces again that were there before a reload. */
  async resume(records: readonly Record[]): Promise<void> {
    const { requests: requested } = this;
    this.pending = records;
    this.record = records[records.length - 1] ?? null;
    for (const record of records) {
      if (requested !== this.requests) return;
      this.problem = null; // of a piece before; the last one counts
      this.summary = null;
      this.pendingAt = record.offset;
      if (record.address) await this.read(record.address);
      else await new Promise<void>((begun) => this.listen(record, begun));
    }
  }

  /** Take a recording from where it lies. */
  private async read(address: string): Promise<void> {
    const { requests: requested } = this;
    try {
      const recording = await readRecording(address);
      if (requested === this.requests) this.take(recording);
    } catch (error) {
      this.failed(lostTo(error));
    }
  }

  /** Another lane that has gone the same way so far, and may go on otherwise. */
  branch(): Lane {
    const other = this.blank();
    other.timeline = this.timeline;
    return other;
  }

  /** After it was closed: a part that was under way then is run again, and comes out the same. */
  async revive(): Promise<void> {
    const { record, problem } = this;
    if (!this.closed || !record || this.summary || (problem && !PASSING.has(problem.code))) return;
    try {
      await this.run(record.scenario, record.offset, record.jumps);
    } catch {
      // The lane has it as its problem.
    }
  }

  close(): void {
    this.requests++;
    this.closed = true;
    this.pendingAt = null;
    this.drop();
    this.earlier.forEach((live) => live.close());
  }

  /** Leave the run under way; the server ends it when no client listens. */
  private drop(): void {
    this.live?.close();
    this.live = null;
    if (this.job && isUnderWay(this.job)) cancel(this.job.id).catch(() => undefined);
    this.job = null;
    this.pending = [];
    this.lost = false;
  }

  /** Take a run that comes from a recording; it is all there is. */
  take({ scenario, begin, frames, summary, remarks, address }: Recording): void {
    const to = this.listener({ id: RECORDED, offset: 0, jumps: 0, scenario, address }, () => true).listener;
    to.begin(begin);
    for (const frame of frames) to.frame(frame);
    to.end(summary, remarks);
  }

  /** Listen to a piece. Only the last one speaks for the lane; those before give their rows. */
  private listen(record: Record, begun?: () => void): void {
    if (this.live) this.earlier.push(this.live);
    const { listener, have } = this.listener(record, () => this.live === live, begun);
    const live = new Live(record.id, have, listener);
    this.live = live;
  }

  /** What takes the messages of a piece, and how many rows of it there are. */
  private listener(
    record: Record,
    last: () => boolean,
    begun?: () => void,
  ): { listener: Listener; have: () => { events: number; samples: number } } {
    let arc: Arc | null = null;
    const listener: Listener = {
      job: (job) => last() && this.takeJob(job),
      begin: (begin) => {
        if (!arc) {
          const world = new World(begin.world ?? worldOf(record.scenario));
          arc = new Arc(begin.start, begin.fade, world.lives);
          this.begin(record, begin, arc, world);
        }
        begun?.();
      },
      frame: (frame) => arc && this.rows(arc, frame),
      end: (summary, remarks) => arc && this.finish(arc, summary as Summary, remarks, last()),
      broken: () => begun?.(),
      lost: (lost) => {
        if (!last()) return;
        this.lost = lost;
        this.news.changed();
      },
      gone: () => {
        this.lost = false;
        this.job = null; // whatever it did, it does no more
        this.failed({
          code: "gone",
          key: null,
          message: "The server does not know this run any more; run it again.",
        });
        begun?.();
      },
    };
    return {
      listener,
      have: () => ({ events: arc?.events.count ?? 0, samples: arc?.samples.count ?? 0 }),
    };
  }

  private takeJob(job: Job): void {
    this.job = job;
    if (job.status === "failed" || job.status === "cancelled")
      return this.failed(job.error ?? { code: "cancelled", key: null, message: "The run was cancelled." });
    this.news.changed();
  }

  private failed(problem: Problem): void {
    this.problem = problem;
    this.pendingAt = null;
    this.pending = this.pending.slice(1);
    this.news.changed();
  }

  private begin(record: Record, begin: Begin, arc: Arc, world: World): void {
    const { scenario, offset } = record;
    const piece: LanePiece = {
      ...record,
      arc,
      end: offset + scenario.run.horizon,
      nu: begin.nu,
      limit: begin.eta_max,
      world,
      radii: radiiOf(scenario),
    };
    this.timeline = this.timeline.cutAt(piece);
    this.pendingAt = null;
    this.pending = this.pending.slice(1);
    this.news.changed();
    this.news.grew();
  }

  private rows(arc: Arc, frame: Frame): void {
    if (frame.type === "events") arc.append(chunkOf(frame));
    else arc.samples.append(frame);
    this.news.grew();
  }

  private finish(arc: Arc, summary: Summary, remarks: readonly Remark[], last: boolean): void {
    arc.known = Math.max(arc.known, summary.stop?.time ?? 0);
    if (last) {
      this.summary = summary;
      this.remarks = remarks;
    }
    this.news.grew();
    this.news.changed();
  }

  stateAt(t: number, jump: number): ArcState | null {
    return this.timeline.stateAt(Math.min(t, this.timeline.known), jump);
  }
}
