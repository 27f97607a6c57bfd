/** The session, for every component. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { DARK, LIGHT, type Theme } from "../map/theme";
import { signed, superscript } from "../map/ticks";
import type { AppState } from "../state/app";
import type { Session } from "../state/session";
import { useStore } from "../state/store";

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("no session");
  return session;
}

export function useApp<S>(select: (app: AppState) => S): S {
  return useStore(useSession().store, select);
}

const darkWanted = matchMedia("(prefers-color-scheme: dark)");

/** The colours of pictures, as chosen or as the system has it. */
export function useTheme(): Theme {
  const choice = useApp((app) => app.theme);
  const [system, setSystem] = useState(darkWanted.matches);
  useEffect(() => {
    const update = (): void => setSystem(darkWanted.matches);
    darkWanted.addEventListener("change", update);
    return () => darkWanted.removeEventListener("change", update);
  }, []);
  return (choice === "system" ? system : choice === "dark") ? DARK : LIGHT;
}

/** Drawn again some times per second while the clock moves, and at once when it stops. */
export function useTime(perSecond = 20): void {
  const session = useSession();
  const [, again] = useState("");
  useEffect(() => {
    let last = 0;
    const update = (): void => {
      const now = performance.now();
      if (session.clock.playing && now - last < 1000 / perSecond) return;
      last = now;
      again(`${session.clock.t}, ${session.clock.jump}`); // several jumps may happen at one time
    };
    return session.clock.onFrame(update);
  }, [session, perSecond]);
}

/** Whether the clock runs, and how fast. */
export function useClock(): { playing: boolean; speed: number } {
  const { clock } = useSession();
  const [, again] = useState(0);
  useEffect(() => clock.onChange(() => again((n) => n + 1)), [clock]);
  return { playing: clock.playing, speed: clock.speed };
}

/** A number for people: few digits, small ones with a power. */
export function figure(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return signed(String(Number(value.toPrecision(digits))));
  const [mantissa, power] = value.toExponential(2).split("e");
  return `${signed(mantissa)} × 10${superscript(Number(power))}`;
}

/** A whole number with thin spaces between thousands. */
export const whole = (value: number): string =>
  String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u2009");

const WORDS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/** A count as text has it. */
export const inWords = (count: number): string => WORDS[count] ?? whole(count);

/** The text as a sentence begins. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
