/** The samples of each agent over time: a picture that can be zoomed, and leads to any of its times. */

import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomTransform } from "d3-zoom";
import { useEffect, useRef } from "preact/hooks";
import { useApp, useSession, useTheme, whole } from "../panels/context";
import type { Lane } from "../state/lane";
import type { Session } from "../state/session";
import type { Theme } from "../map/theme";
import "./race.css";
import { agentAt, sampleNear } from "./raster";
import { bandsOf, heightOf, LEFT, RasterCanvas, RIGHT, type Band, type Window } from "./raster_canvas";

const CLOSEST = 5000; // times the whole run
const STEP = 2; // of one press of a button
const NEAR = 5; // pixels within which a click hits a sample

/** Shows the lanes of a session on a canvas, and the clock's time as a line over it. */
class Raster {
  private readonly picture: RasterCanvas;
  private readonly zoom = zoom<HTMLCanvasElement, unknown>();
  private transform: ZoomTransform = zoomIdentity;
  private bands: Band[] = [];
  private dirty = true;
  private readonly listening = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly now: HTMLElement,
    private readonly session: Session,
    private readonly theme: Theme,
  ) {
    this.picture = new RasterCanvas(canvas);
    this.zoom
      .scaleExtent([1, CLOSEST])
      // The wheel alone scrolls the page; one finger does so too, except sideways in a part of time.
      .filter((e: WheelEvent & TouchEvent) => (e.type === "wheel" ? e.ctrlKey || e.metaKey : !e.button))
      .on("zoom", (e: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        this.transform = e.transform;
        this.touch();
      });
    select(canvas).call(this.zoom).on("dblclick.zoom", null);
    canvas.addEventListener("click", (e) => this.go(e), { signal: this.listening.signal });
  }

  private get width(): number {
    return Math.max(1, Math.floor(this.canvas.clientWidth - LEFT - RIGHT));
  }

  get window(): Window {
    const { k, x } = this.transform;
    const end = this.session.end;
    const from = (((LEFT - x) / k - LEFT) / this.width) * end;
    return { from, to: from + end / k };
  }

  /** Draw again at the next frame, as the rows, the size or the part of time are others. */
  touch(): void {
    this.dirty = true;
    this.session.clock.touch();
  }

  resize(): void {
    const whole: [[number, number], [number, number]] = [
      [LEFT, 0],
      [LEFT + this.width, 1],
    ];
    this.zoom.extent(whole).translateExtent(whole);
    this.zoom.transform(select(this.canvas), this.transform);
    this.touch();
  }

  by(factor: number): void {
    if (factor === 0) this.zoom.transform(select(this.canvas), zoomIdentity);
    else this.zoom.scaleBy(select(this.canvas), factor, [LEFT + this.placeOf(this.session.clock.t), 0]);
  }

  private placeOf(t: number): number {
    const { from, to } = this.window;
    return Math.min(1, Math.max(0, (t - from) / (to - from))) * this.width;
  }

  frame(): void {
    const { clock, store } = this.session;
    const before = this.window;
    if (clock.playing && (clock.t > before.to || clock.t < before.from)) this.follow(clock.t);
    const { from, to } = this.window;
    if (this.dirty) {
      this.dirty = false;
      this.bands = bandsOf(store.get().lanes.filter((lane) => lane.timeline.pieces.length));
      this.canvas.style.height = `${heightOf(this.bands)}px`;
      this.picture.draw(this.bands, { from, to }, this.theme);
    }
    const inside = clock.t >= from && clock.t <= to;
    this.now.style.visibility = inside ? "visible" : "hidden";
    this.now.style.transform = `translateX(${LEFT + this.placeOf(clock.t)}px)`;
  }

  /** While time runs, the part that is seen goes with it. */
  private follow(t: number): void {
    const { k } = this.transform;
    const share = Math.min(t / this.session.end, 1 - 1 / k);
    const x = LEFT - k * (LEFT + share * this.width);
    this.zoom.transform(select(this.canvas), zoomIdentity.translate(x, 0).scale(k));
  }

  private go(e: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const { from, to } = this.window;
    const unit = (to - from) / this.width;
    const t = from + (e.clientX - box.left - LEFT) * unit;
    const y = e.clientY - box.top;
    const band = this.bands.find(({ top, height }) => y >= top && y <= top + height);
    const agent = band ? agentAt(band.lane, (y - band.top) / band.height) : -1;
    const sample = band ? sampleNear(band.lane, agent, t, NEAR * unit) : null;
    this.session.clock.pause();
    if (sample !== null) this.session.store.set({ selected: agent });
    this.session.seek(sample ?? t);
  }

  close(): void {
    this.listening.abort();
    select(this.canvas).on(".zoom", null);
  }
}

const describe = (lanes: readonly Lane[]): string =>
  lanes
    .map((lane) => {
      const { timeline } = lane;
      const counts = timeline.counts(timeline.known, timeline.jumps);
      const agents = timeline.last?.arc.agents ?? 0;
      const law = lanes.length > 1 ? `${lane.name}: ` : "";
      return `${law}${whole(counts.samples)} samples by ${whole(agents)} agents up to t = ${Number(timeline.known.toPrecision(4))}`;
    })
    .join("; ");

export function RasterPane() {
  const session = useSession();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const now = useRef<HTMLDivElement>(null);
  const raster = useRef<Raster | null>(null);
  const lanes = useApp((app) => app.lanes);
  const version = useApp((app) => app.version);
  const laneVersion = useApp((app) => app.laneVersion);
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const made = new Raster(element, now.current as HTMLDivElement, session, theme);
    raster.current = made;
    const off = session.clock.onFrame(() => made.frame());
    const watch = new ResizeObserver(() => made.resize());
    watch.observe(element);
    return () => {
      off();
      watch.disconnect();
      made.close();
    };
  }, [session, theme]);
  useEffect(() => raster.current?.touch(), [lanes, version, laneVersion]);
  const begun = lanes.filter((lane) => lane.timeline.pieces.length);
  return (
    <section class="chart raster">
      <h3>
        Samples{" "}
        <span class="chart-note dim">
          a row for each agent, a tick for each sample; click to go there, Ctrl and wheel or two fingers zoom
        </span>
        <span class="raster-tools">
          <button class="plain small" aria-label="Zoom in on time" onClick={() => raster.current?.by(STEP)}>
            +
          </button>
          <button
            class="plain small"
            aria-label="Zoom out of time"
            onClick={() => raster.current?.by(1 / STEP)}
          >
            −
          </button>
          <button class="plain small" onClick={() => raster.current?.by(0)}>
            Whole run
          </button>
        </span>
      </h3>
      <div class="raster-box">
        <canvas
          ref={canvas}
          class="raster-canvas"
          role="img"
          aria-label={`Samples over time. ${describe(begun)}.`}
        />
        <div ref={now} class="raster-now" />
      </div>
    </section>
  );
}
