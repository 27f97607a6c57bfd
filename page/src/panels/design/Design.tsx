/** The design panel: sliders, the admissible region, and each condition in words. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { design, Refusal } from "../../net/api";
import type { Spot } from "../../state/forms";
import { nameOf } from "../../state/laws";
import { Entry, number, Wrong } from "../Entry";
import { figure, useApp, useSession, useTheme } from "../context";
import { conditions, feasible, inOrder, settingOf, withSetting, type Setting, type Slider } from "./formulas";
import { drawRegion, under, type Frame } from "./region";

const SLIDERS: readonly { key: Slider; name: string; about: string }[] = [
  { key: "k1", name: "k1", about: "largest speed" },
  { key: "nu", name: "ν", about: "error that counts as covered" },
  { key: "t1", name: "T1", about: "shortest wait between looks" },
  { key: "t2", name: "T2", about: "longest wait between looks" },
  { key: "etaMax", name: "η̃max", about: "largest hold error assumed" },
  { key: "lipschitz", name: "L", about: "Lipschitz constant of the centroids assumed" },
];

const KEYS: Record<Slider, string> = {
  k1: "controller.k1",
  nu: "controller.nu",
  t1: "controller.t1",
  t2: "controller.t2",
  etaMax: "certificate.eta_max",
  lipschitz: "certificate.lipschitz",
};

/** The place that a slider is for. A T1 that is typed too long is refused; a slider stops there. */
function spotOf(which: Slider, name: string, agents: number): Spot {
  return {
    key: KEYS[which],
    name,
    panel: "design",
    parse: number,
    read: (s) => settingOf(s, agents)?.[which],
    write: (s, value) => {
      const before = settingOf(s, agents);
      if (!before) return s;
      const next = { ...before, [which]: value as number };
      return withSetting(s, which === "t2" && next.t2 > 0 ? inOrder(next) : next);
    },
  };
}

const ASK_AFTER = 500; // milliseconds after the last change

export function Design() {
  const session = useSession();
  const scenario = useApp((app) => app.scenario);
  const agents = useApp((app) => app.start.length);
  const own = useMemo(() => (scenario ? settingOf(scenario, agents) : null), [scenario, agents]);
  const [setting, show] = useState<Setting | null>(own);
  useEffect(() => show(own), [own]);
  const set = (next: Setting): void => show(inOrder(next));
  if (!scenario) return null;
  if (!own || !setting)
    return (
      <p class="empty">
        The conditions are about the timer law; this scenario runs {nameOf(scenario.controller.kind)}. Choose
        the timer law under Scenario to design it.
      </p>
    );
  const keep = (next: Setting): void => {
    set(next);
    void session.forms.change((s) => withSetting(s, inOrder(next))).then((taken) => !taken && show(own));
  };
  return (
    <div class="design">
      <Region setting={setting} set={set} keep={keep} />
      <p class={feasible(setting) ? "verdict good" : "verdict bad"} role="status">
        {feasible(setting)
          ? "● The point is inside: the paper's condition holds."
          : "⊗ The point is outside: the paper's condition does not hold."}
      </p>
      <div class="sliders">
        {SLIDERS.map((one) => (
          <OneSlider
            key={one.key}
            which={one.key}
            name={one.name}
            about={one.about}
            setting={setting}
            first={own}
            set={set}
            keep={keep}
          />
        ))}
      </div>
      {!scenario.certificate && (
        <p class="dim">η̃max and L are not in the scenario; moving a slider puts them there.</p>
      )}
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

function OneSlider({
  which,
  name,
  about,
  first,
  setting,
  set,
  keep,
}: Change & { which: Slider; name: string; about: string; first: Setting }) {
  const middle = useRef(first[which] || 1);
  const low = Math.log10(middle.current) - DECADES;
  const value = setting[which];
  const to = (notch: number): Setting => ({
    ...setting,
    [which]: Number((10 ** (low + (2 * DECADES * notch) / NOTCHES)).toPrecision(3)),
  });
  const spot = useMemo(() => spotOf(which, name, first.agents), [which, name, first.agents]);
  return (
    <>
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
        <Entry spot={spot} showing={value} label={`${name}, ${about}, as a number`} />
      </label>
      <Wrong spot={spot} />
    </>
  );
}

interface Said {
  readonly reasons: readonly string[];
  readonly helps: readonly string[]; // changes of one number that would do
  readonly fails: readonly string[]; // numbers of which no value would
}

function Advice({ setting }: { setting: Setting }) {
  const scenario = useApp((app) => app.scenario);
  const [said, say] = useState<Said | null>(null);
  useEffect(() => {
    if (!scenario) return;
    let over = false;
    const ask = async (): Promise<void> => {
      try {
        const found = await design(withSetting(scenario, setting));
        const advice = (found["advice"] as { says: string; possible: boolean }[] | undefined) ?? [];
        const those = (possible: boolean): string[] =>
          advice.filter((one) => one.possible === possible).map((one) => one.says);
        if (!over)
          say({
            reasons: (found["reasons"] as string[] | undefined) ?? [],
            helps: those(true),
            fails: those(false),
          });
      } catch (error) {
        if (!over) say(error instanceof Refusal ? { reasons: [error.message], helps: [], fails: [] } : null);
      }
    };
    const timer = window.setTimeout(() => void ask(), ASK_AFTER);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [scenario, setting]);
  if (!said) return null;
  return (
    <section>
      <Listed title="What stands against it" lines={said.reasons} />
      <Listed
        title={said.helps.length > 1 ? "Any one of these would do" : "This would do"}
        lines={said.helps}
      />
      <Listed title="These alone would not" lines={said.fails} />
    </section>
  );
}

function Listed({ title, lines }: { title: string; lines: readonly string[] }) {
  if (!lines.length) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {lines.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </>
  );
}
