/** Keys that work anywhere on the page. */

import { SPEEDS } from "../state/clock";
import type { Session } from "../state/session";

const TYPING = "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]";

function faster(session: Session, by: number): void {
  const now = SPEEDS.findIndex((speed) => speed >= session.clock.speed);
  session.clock.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, now + by))]);
}

/** Menus are closed by whatever happens outside of them. */
function closeMenus(except: Element | null): void {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu === except) continue;
    const inside = menu.contains(document.activeElement);
    menu.removeAttribute("open");
    if (inside) menu.querySelector("summary")?.focus(); // what had the focus is hidden now
  }
}

/** A button that was clicked with a pointer gives the keyboard back, so that Space plays again. */
function letGoOfClicked(event: Event): void {
  const e = event as MouseEvent;
  closeMenus((e.target as HTMLElement).closest("details.menu"));
  if (e.detail > 0) (e.target as HTMLElement).closest<HTMLElement>("button, summary")?.blur();
}

/** What a fixed session understands: time alone. */
const OF_TIME: ReadonlySet<string> = new Set([
  " ",
  "ArrowLeft",
  "ArrowRight",
  "Home",
  "End",
  "<",
  ">",
  "Escape",
]);

/** Listen anywhere on the page, or inside of one element alone. */
export function listenToKeys(
  session: Session,
  click: (what: string) => void,
  where: HTMLElement | Window = window,
): () => void {
  const commands: Record<string, (e: KeyboardEvent) => void> = {
    " ": () => void session.playOrPause(),
    ArrowLeft: (e) => (e.shiftKey ? session.seek(session.clock.t - session.end / 100) : session.step(-1)),
    ArrowRight: (e) => (e.shiftKey ? session.seek(session.clock.t + session.end / 100) : session.step(1)),
    Home: () => session.seek(0),
    End: () => session.seek(session.end),
    "<": () => faster(session, -1),
    ">": () => faster(session, 1),
    r: () => void session.run(),
    "1": () => session.hands.setTool("agents"),
    "2": () => session.hands.setTool("peaks"),
    "3": () => session.hands.setTool("workspace"),
    "4": () => session.hands.setTool("paint"),
    "?": () => session.store.set({ help: true }),
    Enter: () => void session.hands.finishDrawing(),
    Escape: () => {
      closeMenus(null);
      session.hands.letGo();
    },
    m: () => click("map"),
    o: () => click("Open"),
    s: () => click("Save"),
    l: () => click("Link"),
  };
  const listen = (event: Event): void => {
    const e = event as KeyboardEvent;
    if (session.fixed && (e.ctrlKey || e.metaKey || !OF_TIME.has(e.key))) return;
    const target = e.target as HTMLElement;
    if (session.store.get().help || target.matches(TYPING)) return;
    const letter = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (e.ctrlKey || e.metaKey) {
      if (letter === "z") session.undo(!e.shiftKey);
      else if (letter === "y") session.undo(false);
      else return;
      return e.preventDefault();
    }
    const pressing = target.matches("button, summary, input");
    const drawing = session.store.get().drawing !== null; // else Enter belongs to links
    if (e.altKey || (e.key === "Enter" && !drawing) || (pressing && (e.key === " " || e.key === "Enter")))
      return;
    const command = commands[letter] ?? commands[e.key];
    // Sliders keep their arrows; those of the time bar go from jump to jump, as elsewhere.
    if (!command || (target.matches("input[type=range]") && !target.closest(".scrubber"))) return;
    e.preventDefault();
    command(e);
  };
  where.addEventListener("keydown", listen);
  where.addEventListener("click", letGoOfClicked);
  return () => {
    where.removeEventListener("keydown", listen);
    where.removeEventListener("click", letGoOfClicked);
  };
}
