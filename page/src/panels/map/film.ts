/** Films of the maps as the page draws them, side by side, each with its title, law and time. */

import { ArrayBufferTarget, Muxer } from "mp4-muxer";
import { HEIGHT } from "../../map/caption";
import { Painter } from "../../map/painter";
import { compose } from "../../map/pictures";
import type { Session } from "../../state/session";
import { download, maps, type MapEntry } from "./exports";
import { captionOf } from "./pictures";
import { SceneMaker, type Moment } from "./scene_of";

const RATE = 30; // frames a second
const WIDEST = 1920; // pixels
const SHARP = 2; // pixels of a film per pixel of the page, at most
const QUEUE = 6; // frames that wait for the encoder, at most
const CODECS = [
  { name: "avc", codec: "avc1.640028" },
  { name: "avc", codec: "avc1.42001f" },
  { name: "vp9", codec: "vp09.00.41.08" },
] as const;

/** One map of a film: like one on the page, with a time of its own. */
class Take {
  private readonly canvas = document.createElement("canvas");
  private readonly painter = new Painter(this.canvas);
  private readonly maker: SceneMaker;
  readonly width: number;
  readonly height: number;

  constructor(
    private readonly session: Session,
    private readonly map: MapEntry,
    moment: Moment,
  ) {
    this.maker = new SceneMaker(session, moment);
    this.width = map.canvas.clientWidth;
    this.height = map.canvas.clientHeight;
  }

  draw(context: CanvasRenderingContext2D, left: number, ratio: number): void {
    const theme = this.map.shown()?.scene.theme;
    const shown = theme && this.maker.make(this.map.lane, this, theme, {});
    if (!shown) return;
    this.painter.draw(shown.scene, shown.density, ratio);
    compose(context, this.canvas, shown.scene, captionOf(this.session, this.map.lane, shown), left);
  }
}

/** The first way to encode a film of this size that the browser has. */
async function encodingOf(width: number, height: number) {
  for (const { name, codec } of CODECS) {
    const config = { codec, width, height, framerate: RATE, bitrate: 4 * width * height };
    const { supported } = await VideoEncoder.isConfigSupported(config).catch(() => ({ supported: false }));
    if (supported) return { name, config };
  }
  throw new Error("This browser encodes no films of this size; take the GIF.");
}

const rest = (ms = 0): Promise<void> => new Promise((go) => setTimeout(go, ms));

const even = (pixels: number): number => 2 * Math.round(pixels / 2); // as encoders want it

/** Draw and encode all frames; `progress` receives the share that is done. */
async function record(session: Session, seconds: number, progress: (share: number) => void): Promise<Blob> {
  const frames = Math.round(seconds * RATE);
  const end = session.end;
  const moment = { t: 0, playing: true, speed: end / seconds };
  const takes = [...maps].map((map) => new Take(session, map, moment));
  const width = takes.reduce((sum, take) => sum + take.width, 0);
  const height = HEIGHT + Math.max(...takes.map((take) => take.height));
  const ratio = Math.min(SHARP, WIDEST / width);
  const canvas = document.createElement("canvas");
  canvas.width = even(width * ratio);
  canvas.height = even(height * ratio);
  const context = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
  const { name, config } = await encodingOf(canvas.width, canvas.height);
  const target = new ArrayBufferTarget();
  const muxer = new Muxer({
    target,
    video: { codec: name, width: canvas.width, height: canvas.height },
    fastStart: "in-memory",
  });
  let wrong: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk, meta) => muxer.addVideoChunk(chunk, meta),
    error: (error) => (wrong = error),
  });
  encoder.configure(config);
  for (let k = 0; k < frames && !wrong; k++) {
    moment.t = frames > 1 ? (end * k) / (frames - 1) : end;
    takes.reduce((left, take) => (take.draw(context, left, ratio), left + take.width), 0);
    const frame = new VideoFrame(canvas, { timestamp: (1e6 * k) / RATE, duration: 1e6 / RATE });
    encoder.encode(frame, { keyFrame: k % (2 * RATE) === 0 });
    frame.close();
    progress(k / frames);
    do
      await rest(); // the page goes on meanwhile
    while (encoder.encodeQueueSize > QUEUE && !wrong);
  }
  if (wrong) throw wrong;
  await encoder.flush();
  encoder.close();
  muxer.finalize();
  return new Blob([target.buffer], { type: "video/mp4" });
}

export async function saveFilm(session: Session, name: string): Promise<void> {
  const { filmSeconds } = session.store.get();
  let said = -1;
  try {
    const film = await record(session, filmSeconds, (share) => {
      const tenth = Math.floor(10 * share);
      if (tenth > said) session.say(`The film is being recorded: ${10 * tenth} %.`);
      said = Math.max(said, tenth);
    });
    download(film, name);
    session.say(`${name} is saved.`);
  } catch (error) {
    session.fail(error);
  }
}
