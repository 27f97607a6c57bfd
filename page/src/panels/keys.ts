/** Keys that work anywhere on the page. */

import { nextSpeed } from "../state/clock";
import type { Session } from "../state/session";
import { copyLink, focusMap, pickFile, saveScenario } from "./actions";

const TYPING = "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]";

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

type Command = (e: KeyboardEvent) => void;

function commandsOf(session: Session): Record<string, Command> {
  const { clock, editor } = session;
  const go = (e: KeyboardEvent, by: 1 | -1): void =>
    e.shiftKey ? session.seek(clock.t + (by * session.end) / 100) : session.step(by);
  return {
    " ": () => void session.playOrPause(),
    ArrowLeft: (e) => go(e, -1),
    ArrowRight: (e) => go(e, 1),
    Home: () => session.seek(0),
    End: () => session.seek(session.end),
    "<": () => clock.setSpeed(nextSpeed(clock.speed, -1)),
    ">": () => clock.setSpeed(nextSpeed(clock.speed, 1)),
    r: () => void session.run(),
    "1": () => editor.setTool("agents"),
    "2": () => editor.setTool("peaks"),
    "3": () => editor.setTool("workspace"),
    "4": () => editor.setTool("paint"),
    "?": () => session.store.set({ help: true }),
    Enter: () => void editor.finishDrawing(),
    Escape: () => {
      closeMenus(null);
      session.leaveStory();
      editor.letGo();
    },
    "0": () => session.setView(null),
    m: focusMap,
    o: pickFile,
    s: () => void saveScenario(session),
    l: () => void copyLink(session),
  };
}

/** What a fixed session understands: time alone. */
const OF_TIME = " ,ArrowLeft,ArrowRight,Home,End,<,>,?,0,Escape".split(",");

/** Listen anywhere on the page, or inside of one element alone. */
export function listenToKeys(session: Session, where: HTMLElement | Window = window): () => void {
  const commands = commandsOf(session);
  const listen = (event: Event): void => {
    const e = event as KeyboardEvent;
    if (session.fixed && (e.ctrlKey || e.metaKey || !OF_TIME.includes(e.key))) return;
    const target = e.target as HTMLElement;
    const letter = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    const runs = target.matches("select") && letter === "r" && !e.ctrlKey && !e.metaKey;
    if (session.store.get().help || (target.matches(TYPING) && !runs)) return;
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
    if (e.key === "Escape" && document.querySelector(":popover-open")) return; // the browser closes it
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
