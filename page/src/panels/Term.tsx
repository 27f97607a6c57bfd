/** A word with its definition, which a click, a touch or a key opens. */

import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { TERMS, type Defined, type TermName } from "../terms";
import "./term.css";

const WIDE = 270; // pixels of a definition, as in term.css
const EDGE = 8;
const GAP = 6;

/** Below the word, or above it near the lower end of the screen. */
function placeBy(word: HTMLElement, box: HTMLElement): void {
  const { left, top, bottom } = word.getBoundingClientRect();
  box.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - WIDE - EDGE))}px`;
  const above = bottom > 0.7 * innerHeight;
  box.style.top = above ? "auto" : `${bottom + GAP}px`;
  box.style.bottom = above ? `${innerHeight - top + GAP}px` : "auto";
}

export function Term({ name, children }: { name: TermName; children?: ComponentChildren }) {
  const id = useId();
  const word = useRef<HTMLButtonElement>(null);
  const { term, symbol, says }: Defined = TERMS[name];
  return (
    <>
      <button type="button" class="term" ref={word} popovertarget={id}>
        {children ?? term}
      </button>
      <span
        id={id}
        popover="auto"
        class="definition"
        onBeforeToggle={(e) => word.current && placeBy(word.current, e.currentTarget)}
      >
        <b>
          {term}
          {symbol && `, ${symbol}`}
        </b>
        <br />
        {says}
      </span>
    </>
  );
}
