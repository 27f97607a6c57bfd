/** The design panel: sliders, the admissible region, and each condition in words. */

import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { Held } from "../../state/held";
import { nameOf } from "../../state/laws";
import { MORE } from "../../state/keys";
import type { TermName } from "../../terms";
import { figure, useApp, useSession, useTheme } from "../context";
import { Advice, useAnswer } from "./Advice";
import "./design.css";
import {
  conditions,
  feasible,
  inOrder,
  settingOf,
  verdictOf,
  withSetting,
  type Assumed,
  type Setting,
  type Slider,
} from "./formulas";
import { OneSlider } from "./OneSlider";
import { drawRegion, under, type Frame } from "./region";

const SLIDERS: readonly { key: Slider & TermName; name: string; about: string }[] = [
  { key: "k1", name: "k1", about: "largest speed" },
  { key: "nu", name: "ν", about: "error that counts as covered" },
  { key: "t1", name: "T1", about: "shortest time between samples" },
  { key: "t2", name: "T2", about: "longest time between samples" },
  { key: "etaMax", name: "η̃max", about: "assumed limit of the hold error" },
  { key: "lipschitz", name: "L", about: "assumed Lipschitz constant of the centroids" },
];

/** The setting of the scenario, or where a hand is moving it. */
function useSetting(assumed: Assumed | null): {
  own: Setting | null;
  setting: Setting | null;
  held: Held<Setting>;
} {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const agents = useApp((app) => app.start.length);
  const own = useMemo(
    () => (scenario ? settingOf(scenario, agents, assumed) : null),
    [scenario, agents, assumed],
  );
  const [, again] = useReducer((count: number) => count + 1, 0);
  const latest = useRef(own);
  latest.current = own;
  const taken = useRef(assumed);
  taken.current = assumed;
  const held = useMemo(
    () =>
      new Held<Setting>(
        (next) => session.forms.change((s) => withSetting(s, next, latest.current ?? next, taken.current)),
        () => again(undefined as never),
      ),
    [session],
  );
  return { own, setting: own && (held.value ?? own), held };
}

export function Design() {
  const scenario = useApp((app) => app.scenario);
  const answer = useAnswer();
  const { own, setting, held } = useSetting(answer?.found ?? null);
  if (!scenario) return null;
  if (!own || !setting)
    return (
      <p class="empty">
        The conditions are about the timer law; this scenario runs {nameOf(scenario.controller.kind)}. Choose
        the timer law under Scenario to design it.
      </p>
    );
  const move = (next: Setting): void => held.move(inOrder(next, setting));
  const letGo = (): void => void held.flush();
  const current = answer && answer.about === scenario && held.value === null ? answer : null;
  const found = current?.found ?? null;
  const verdict = verdictOf(setting, found);
  return (
    <div class="design">
      {found?.in_practice && <p class="in-practice">{found.in_practice}</p>}
      <Region setting={setting} move={move} letGo={letGo} />
      <p class={`verdict ${verdict.tone}`} role="status">
        {current?.refused || verdict.says}
      </p>
      <div class="sliders">
        {SLIDERS.filter((one) => !Number.isNaN(setting[one.key])).map((one) => (
          <OneSlider
            key={one.key}
            which={one.key}
            name={one.name}
            about={one.about}
            setting={setting}
            first={own}
            assumed={answer?.found ?? null}
            move={move}
            letGo={letGo}
          />
        ))}
      </div>
      {!scenario.certificate && (
        <p class="dim">
          η̃max and L are not in the scenario: as <code>dwell design</code> does, the page takes {MORE.theta}{" "}
          k1 and what it measures for each agent; shown is the agent with the least margin. Moving one of
          these two sliders puts both into the scenario.
        </p>
      )}
      <ul class="conditions">
        {conditions(setting, found).map((one) => (
          <li key={one.name}>
            <b class={one.holds === null ? "dim" : one.holds ? "good" : "bad"}>
              {one.holds === null ? "○ open" : one.holds ? "✓ holds" : "✗ fails"}
            </b>{" "}
            {one.name}
            <span class="dim">{one.says}</span>
          </li>
        ))}
      </ul>
      {found && <Advice answer={found} />}
      <p class="dim">
        ν̃ = (1 − epsilon) ν, with the margin epsilon of the law; N is the number of agents. In files and
        messages the six are k1, nu, t1, t2, eta_max and lipschitz.
      </p>
    </div>
  );
}

interface Change {
  readonly setting: Setting;
  readonly move: (next: Setting) => void;
  readonly letGo: () => void;
}

function Region({ setting, move, letGo }: Change) {
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<Frame | null>(null);
  const held = useRef<Frame | null>(null);
  useEffect(() => {
    const draw = (): void => {
      if (canvas.current?.clientWidth)
        frame.current = drawRegion(canvas.current, setting, theme, held.current);
    };
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current as HTMLCanvasElement);
    return () => watch.disconnect();
  }, [setting, theme]);
  const at = (e: PointerEvent): Setting => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
    return { ...setting, ...under(held.current as Frame, e.clientX - box.left, e.clientY - box.top) };
  };
  return (
    <figure class="region">
      <canvas
        ref={canvas}
        class="region-canvas"
        role="img"
        aria-label={`T2 ${figure(setting.t2)}, k1 ${figure(setting.k1)}: ${feasible(setting) ? "inside" : "outside"} the admissible region`}
        onPointerDown={(e) => {
          held.current = frame.current;
          e.currentTarget.setPointerCapture(e.pointerId);
          move(at(e));
        }}
        onPointerMove={(e) => e.buttons === 1 && held.current && move(at(e))}
        onPointerUp={(e) => {
          if (held.current) move(at(e));
          held.current = null;
          letGo();
        }}
      />
      <figcaption class="chart-note">
        <span class="key region-paper">paper's condition</span>
        <span class="key line-full">near a minimum: k1 T2 = ν̃</span>
        <span class="key line-dash">shared clock: k1 T2 = 2ν̃</span>
      </figcaption>
    </figure>
  );
}
