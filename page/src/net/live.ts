/** Live: listens to one run, and goes on from where it was after a lost connection. */

import type { Begin, Job, Remark } from "./api";
import { decode, type Frame } from "./wire";

const FIRST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 5000;
const SILENCE = 12000; // the server beats every 5 s
const GONE = 4404; // close code: the server knows no such run
const BROKEN = new Set(["failed", "cancelled"]);

export interface Listener {
  job(job: Job): void;
  begin(begin: Begin): void;
  frame(frame: Frame): void;
  end(summary: unknown, remarks: readonly Remark[]): void;
  /** The run failed or was cancelled, and everything it has was sent. */
  broken(): void;
  /** The connection was lost (true) or is there again (false). */
  lost(lost: boolean): void;
  /** The run is not known to the server any more. */
  gone(): void;
}

export class Live {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;
  private timer = 0;
  private watch = 0;
  private over = false; // nothing is listened to any more
  private ended = false; // the job broke off: what it has is still sent, and then no more

  constructor(
    private readonly id: string,
    private readonly have: () => { events: number; samples: number },
    private readonly listener: Listener,
  ) {
    this.connect();
  }

  close(): void {
    this.over = true;
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.socket?.close();
  }

  private connect(): void {
    const { events, samples } = this.have();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = `run=${encodeURIComponent(this.id)}&from=${events}&samples=${samples}`;
    const socket = new WebSocket(`${scheme}://${location.host}/api/live?${query}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.listener.lost(false);
      this.expectBeat(socket);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.expectBeat(socket);
      this.receive(event.data);
    };
    socket.onclose = (event) => this.closed(event.code);
    this.socket = socket;
  }

  private expectBeat(socket: WebSocket): void {
    clearTimeout(this.watch);
    this.watch = window.setTimeout(() => socket.close(), SILENCE);
  }

  private receive(data: string | ArrayBuffer): void {
    if (this.over) return;
    if (typeof data !== "string") {
      this.listener.frame(decode(data));
      return;
    }
    const message = JSON.parse(data) as { type: string } & Record<string, unknown>;
    if (message.type === "job") this.takeJob(message["job"] as Job);
    else if (message.type === "begin") this.listener.begin(message as unknown as Begin);
    else if (message.type === "end") {
      this.over = true;
      this.listener.end(message["summary"], (message["remarks"] ?? []) as Remark[]);
    }
  }

  private takeJob(job: Job): void {
    if (BROKEN.has(job.status)) this.ended = true;
    this.listener.job(job);
  }

  private closed(code: number): void {
    clearTimeout(this.watch);
    if (this.over) return;
    if (this.ended) return this.listener.broken();
    if (code === GONE) {
      this.over = true;
      this.listener.gone();
      return;
    }
    this.listener.lost(true);
    this.timer = window.setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
  }
}
