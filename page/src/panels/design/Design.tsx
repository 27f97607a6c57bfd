/** The design panel: sliders, the admissible region, and each condition in words. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { design, Refusal } from "../../net/api";
import { nameOf } from "../../state/laws";
import { figure, useApp, useSession, useTheme } from "../context";
import { conditions, feasible, settingOf, withSetting, type Setting, type Slider } from "./formulas";
import { drawRegion, under, type Frame } from "./region";

const SLIDERS: readonly { key: Slider; name: string; about: string }[] = [
  { key: "k1", name: "k1", about: "largest speed" },
  { key: "nu", name: "ν", about: "error that counts as covered" },
  { key: "t1", name: "T1", about: "shortest wait between looks" },
  { key: "t2", name: "T2", about: "longest wait between looks" },
  { key: "etaMax", name: "η̃max", about: "largest hold error assumed" },
  { key: "lipschitz", name: "L", about: "Lipschitz constant of the centroids assumed" },
];

const ASK_AFTER = 500; // milliseconds after the last change

export function Design() {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const agents = useApp((app) => app.start.length);
  const own = useMemo(() => (scenario ? settingOf(scenario, agents) : null), [scenario, agents]);
  const [setting, set] = useState<Setting | null>(own);
  useEffect(() => set(own), [own]);
  if (!scenario) return null;
  if (!own || !setting)
    return (
      <p class="empty">
        The conditions are about the timer law; this scenario runs {nameOf(scenario.controller.kind)}. Choose the timer law under
        Scenario to design it.
      </p>
    );
  const keep = (next: Setting): void => {
    set(next);
    void session.change(withSetting(scenario, next));
  };
  return (
    <div class="design">
      <Region setting={setting} set={set} keep={keep} />
      <p class={feasible(setting) ? "verdict good" : "verdict bad"} role="status">
        {feasible(setting) ? "● The point is inside: the paper's condition holds." : "⊗ The point is outside: the paper's condition does not hold."}
      </p>
      <div class="sliders">
        {SLIDERS.map((one) => (
          <OneSlider key={one.key} which={one.key} name={one.name} about={one.about} setting={setting} first={own} set={set} keep={keep} />
        ))}
      </div>
      {!scenario.certificate && <p class="dim">η̃max and L are not in the scenario; moving a slider puts them there.</p>}
      <ul class="conditions">
        {conditions(setting).map((one) => (
          <li key={one.name}>
            <b class={one.met ? "good" : "bad"}>{one.met ? "✓ met" : "✗ not met"}</b> {one.name}
            <span class="dim">{one.says}</span>
          </li>
        ))}
      </ul>
      <Advice setting={setting} />
    </div>
  );
}

interface Change {
  readonly setting: Setting;
  readonly set: (next: Setting) => void; // while moving
  readonly keep: (next: Setting) => void; // when let go
}

function Region({ setting, set, keep }: Change) {
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<Frame | null>(null);
  const held = useRef<Frame | null>(null);
  useEffect(() => {
    const draw = (): void => {
      if (canvas.current?.clientWidth) frame.current = drawRegion(canvas.current, setting, theme, held.current);
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
          set(at(e));
        }}
        onPointerMove={(e) => e.buttons === 1 && held.current && set(at(e))}
        onPointerUp={(e) => {
          if (held.current) keep(at(e));
          held.current = null;
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

const NOTCHES = 400;
const DECADES = 2; // that a slider reaches to either side

function OneSlider({ which, name, about, first, setting, set, keep }: Change & { which: Slider; name: string; about: string; first: Setting }) {
  const middle = useRef(first[which] || 1);
  const low = Math.log10(middle.current) - DECADES;
  const value = setting[which];
  const to = (notch: number): Setting => ({ ...setting, [which]: Number((10 ** (low + (2 * DECADES * notch) / NOTCHES)).toPrecision(3)) });
  const typed = (text: string): void => {
    const number = Number(text);
    if (number > 0) keep({ ...setting, [which]: number });
  };
  return (
    <label class="slider" title={about}>
      <span class="slider-name">{name}</span>
      <input
        type="range"
        min={0}
        max={NOTCHES}
        value={Math.round((NOTCHES * (Math.log10(value || 1e-12) - low)) / (2 * DECADES))}
        aria-label={`${name}, ${about}`}
        aria-valuetext={figure(value)}
        onInput={(e) => set(to(Number(e.currentTarget.value)))}
        onChange={(e) => keep(to(Number(e.currentTarget.value)))}
      />
      <input type="number" step="any" min="0" class="number" value={value} aria-label={`${name}, ${about}, as a number`} onChange={(e) => typed(e.currentTarget.value)} />
    </label>
  );
}

function Advice({ setting }: { setting: Setting }) {
  const scenario = useApp((app) => app.scenario);
  const [said, say] = useState<{ reasons: string[]; advice: string[] } | null>(null);
  useEffect(() => {
    if (!scenario) return;
    let over = false;
    const ask = async (): Promise<void> => {
      try {
        const found = await design(withSetting(scenario, setting));
        const advice = (found["advice"] as { says: string }[] | undefined) ?? [];
        if (!over) say({ reasons: (found["reasons"] as string[] | undefined) ?? [], advice: advice.map((one) => one.says) });
      } catch (error) {
        if (!over) say(error instanceof Refusal ? { reasons: [error.message], advice: [] } : null);
      }
    };
    const timer = window.setTimeout(() => void ask(), ASK_AFTER);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [scenario, setting]);
  if (!said || (!said.reasons.length && !said.advice.length)) return null;
  return (
    <section>
      <h3>What stands against it</h3>
      <ul>
        {said.reasons.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      {said.advice.length > 0 && <h3>Any one of these would do</h3>}
      <ul>
        {said.advice.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </section>
  );
}
