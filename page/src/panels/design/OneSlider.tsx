/** One number of the design: a slider with its scale, and a field. */

import { useMemo, useRef } from "preact/hooks";
import type { Spot } from "../../state/forms";
import type { TermName } from "../../terms";
import { Entry, number, Wrong } from "../Entry";
import { figure } from "../context";
import { Term } from "../Term";
import { inOrder, settingOf, withSetting, type Assumed, type Setting, type Slider } from "./formulas";

const KEYS: Record<Slider, string> = {
  k1: "controller.k1",
  nu: "controller.nu",
  t1: "controller.t1",
  t2: "controller.t2",
  etaMax: "certificate.eta_max",
  lipschitz: "certificate.lipschitz",
};

/** An eta_max that is typed is a number of its own; one that is tied to k1 moves with it. */
const untied = (next: Setting, before: Setting): Setting =>
  next.t1 > next.t2 ? next : inOrder(next, before);

/** The place that a slider is for. A T1 that is typed too long is refused; a slider stops there. */
function spotOf(which: Slider, name: string, agents: number, assumed: Assumed | null): Spot {
  return {
    key: KEYS[which],
    name,
    panel: "design",
    parse: number,
    read: (s) => settingOf(s, agents, assumed)?.[which],
    write: (s, value) => {
      const before = settingOf(s, agents, assumed);
      if (!before) return s;
      const next = { ...before, [which]: value as number };
      return withSetting(
        s,
        which === "t2" && next.t2 > 0 ? inOrder(next, before) : untied(next, before),
        before,
        assumed,
      );
    },
  };
}

const NOTCHES = 400;
const DECADES = 2; // that a slider reaches to either side

interface Props {
  readonly which: Slider & TermName;
  readonly name: string;
  readonly about: string;
  readonly first: Setting;
  readonly assumed: Assumed | null;
  readonly setting: Setting;
  readonly move: (next: Setting) => void;
  readonly letGo: () => void;
}

export function OneSlider({ which, name, about, first, assumed, setting, move, letGo }: Props) {
  const middle = useRef(first[which] || 1);
  const low = Math.log10(middle.current) - DECADES;
  const value = setting[which];
  const at = (notch: number): number =>
    Number((10 ** (low + (2 * DECADES * notch) / NOTCHES)).toPrecision(3));
  const spot = useMemo(
    () => spotOf(which, name, first.agents, assumed),
    [which, name, first.agents, assumed],
  );
  return (
    <div class="slider">
      <span class="slider-name">
        <Term name={which}>{name}</Term> <span class="dim">{about}</span>
      </span>
      <Entry spot={spot} showing={Number(value.toPrecision(6))} label={`${name}, ${about}, as a number`} />
      <input
        type="range"
        min={0}
        max={NOTCHES}
        value={Math.round((NOTCHES * (Math.log10(value || 1e-12) - low)) / (2 * DECADES))}
        aria-label={`${name}, ${about}`}
        aria-valuetext={figure(value)}
        onInput={(e) => move({ ...setting, [which]: at(Number(e.currentTarget.value)) })}
        onPointerUp={letGo}
        onBlur={letGo}
      />
      <span class="scale dim" aria-hidden="true">
        {[0, NOTCHES / 2, NOTCHES].map((notch) => (
          <span key={notch}>{figure(at(notch), 2)}</span>
        ))}
      </span>
      <Wrong spot={spot} />
    </div>
  );
}
