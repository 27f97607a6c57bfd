/** Lane: one law's run, from its first piece to the one under way. */

import { Arc, type ArcState } from "../arc/arc";
import { Timeline, type Piece } from "../arc/timeline";
import { densityOf, type Density } from "../density/density";
import { regionOf, type Region } from "../geometry/workspace";
import { startRun, cancel, type Begin, type Job, type Problem, type Scenario } from "../net/api";
import { Live } from "../net/live";
import { chunkOf, type Frame } from "../net/wire";

/** What must be remembered of a piece to find it again after a reload. */
export interface Record {
  readonly id: string;
  readonly offset: number;
  readonly jumps: number;
  readonly scenario: Scenario;
}

export interface LanePiece extends Piece, Record {
  readonly nu: number | null;
  readonly limit: number | null; // of the hold error
  readonly region: Region;
  readonly density: Density | null;
}

export interface News {
  /** Something else than rows came: a word about the job, an end, a lost connection. */
  changed(): void;
  /** Rows came. */
  grew(): void;
}

export class Lane {
  timeline = new Timeline<LanePiece>();
  job: Job | null = null;
  lost = false;
  problem: Problem | null = null;
  summary: { [key: string]: unknown } | null = null;
  /** Where a piece was asked for whose beginning is not there yet. */
  pendingAt: number | null = null;
  records: Record[] = [];
  private live: Live | null = null;
  private asked = 0;

  constructor(
    readonly kind: string,
    private readonly news: News,
  ) {}

  get known(): number {
    return this.pendingAt === null ? this.timeline.known : Math.min(this.pendingAt, this.timeline.known);
  }

  get end(): number {
    return this.pendingAt === null ? this.timeline.end : Infinity;
  }

  get working(): boolean {
    return this.pendingAt !== null || this.job?.status === "queued" || this.job?.status === "running";
  }

  /** Run a scenario from (t, j) on; from 0 it is all there is. */
  async run(scenario: Scenario, t = 0, jumps = 0): Promise<void> {
    const asked = ++this.asked;
    this.drop();
    this.pendingAt = t;
    this.problem = null;
    this.summary = null;
    this.news.changed();
    try {
      const job = await startRun(scenario);
      if (asked !== this.asked) return void cancel(job.id).catch(() => undefined);
      this.job = job;
      this.listen({ id: job.id, offset: t, jumps, scenario });
    } catch (error) {
      if (asked === this.asked) this.pendingAt = null;
      throw error;
    } finally {
      this.news.changed();
    }
  }

  /** Find the pieces again that were there before a reload. */
  async resume(records: readonly Record[]): Promise<void> {
    for (const record of records) {
      this.pendingAt = record.offset;
      await new Promise<void>((begun) => this.listen(record, begun));
    }
  }

  close(): void {
    this.asked++;
    this.drop();
  }

  /** Leave the run under way; the server ends it when nobody listens. */
  private drop(): void {
    this.live?.close();
    this.live = null;
    if (this.job && (this.job.status === "queued" || this.job.status === "running"))
      cancel(this.job.id).catch(() => undefined);
    this.job = null;
    this.lost = false;
  }

  private listen(record: Record, begun?: () => void): void {
    let arc: Arc | null = null;
    this.live = new Live(record.id, () => ({ events: arc?.events.count ?? 0, samples: arc?.samples.count ?? 0 }), {
      job: (job) => this.heard(job, begun),
      begin: (begin) => {
        if (!arc) {
          arc = new Arc(begin.start, begin.fade);
          this.begin(record, begin, arc);
        }
        begun?.();
      },
      frame: (frame) => arc && this.rows(arc, frame),
      end: (summary) => arc && this.finish(arc, summary as { stop?: { time?: number } }),
      lost: (lost) => {
        this.lost = lost;
        this.news.changed();
      },
      gone: () => {
        this.pendingAt = null;
        this.problem = { code: "gone", key: null, message: "The server does not know this run any more; run it again." };
        this.news.changed();
        begun?.();
      },
    });
  }

  private heard(job: Job, begun?: () => void): void {
    this.job = job;
    if (job.status === "failed" || job.status === "cancelled") {
      this.problem = job.error ?? { code: "cancelled", key: null, message: "The run was cancelled." };
      this.pendingAt = null;
      begun?.();
    }
    this.news.changed();
  }

  private begin(record: Record, begin: Begin, arc: Arc): void {
    const { scenario, offset } = record;
    const piece: LanePiece = {
      ...record,
      arc,
      end: offset + scenario.run.horizon,
      nu: begin.nu,
      limit: begin.eta_max,
      region: regionOf(scenario.workspace),
      density: densityOf(scenario.density),
    };
    this.timeline = this.timeline.cutAt(piece);
    this.records = this.timeline.pieces.map(({ id, offset, jumps, scenario }) => ({ id, offset, jumps, scenario }));
    this.pendingAt = null;
    this.news.changed();
    this.news.grew();
  }

  private rows(arc: Arc, frame: Frame): void {
    if (frame.type === "events") arc.append(chunkOf(frame));
    else arc.samples.append(frame);
    this.news.grew();
  }

  private finish(arc: Arc, summary: { stop?: { time?: number } }): void {
    arc.known = Math.max(arc.known, summary.stop?.time ?? 0);
    this.summary = summary as { [key: string]: unknown };
    this.news.grew();
    this.news.changed();
  }

  /** The jump that (t, null) stands for. */
  jumpAt(t: number, jump: number | null): number {
    return jump ?? this.timeline.jumpsUntil(t);
  }

  stateAt(t: number, jump: number | null): ArcState | null {
    return this.timeline.stateAt(Math.min(t, this.timeline.known), this.jumpAt(t, jump));
  }
}
