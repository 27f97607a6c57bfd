/** Small pictures in the marks of the map; colours come from guide.css. */

import type { ComponentChildren } from "preact";

function Picture({ children }: { children: ComponentChildren }) {
  return (
    <svg class="picture" viewBox="0 0 96 64" aria-hidden="true">
      {children}
    </svg>
  );
}

const CELL = "M6 10 42 4 60 30 44 58 8 50Z";
const cross = (x: number, y: number): string => `M${x - 4} ${y - 4}l8 8M${x - 4} ${y + 4}l8-8`;
const plus = (x: number, y: number): string => `M${x - 5} ${y}h10M${x} ${y - 5}v10`;

export function CellPicture() {
  return (
    <Picture>
      <circle class="p-peak" cx="52" cy="34" r="24" />
      <circle class="p-peak" cx="52" cy="34" r="14" />
      <path class="p-cell p-own" d={CELL} />
      <path class="p-cell" d="M42 4 92 6V38L60 30M92 38V58H44" />
      <circle class="p-agent" cx="30" cy="30" r="5" />
      <circle class="p-other" cx="76" cy="19" r="5" />
      <circle class="p-third" cx="72" cy="48" r="5" />
    </Picture>
  );
}

export function SamplePicture() {
  return (
    <Picture>
      <path class="p-cell p-seen" d={CELL} />
      <path class="p-line" d={plus(42, 32)} />
      <circle class="p-ring" cx="24" cy="28" r="11" />
      <circle class="p-agent" cx="24" cy="28" r="5" />
    </Picture>
  );
}

export function HoldPicture() {
  return (
    <Picture>
      <path class="p-trail" d="M8 56 26 44" />
      <path class="p-tie" d="M56 24 74 14" />
      <path class="p-line" d="M26 44 56 24M48 25l8-1-4 7" />
      <path class="p-target" d={cross(78, 12)} />
      <circle class="p-agent" cx="26" cy="44" r="5" />
      <circle class="p-dial" cx="76" cy="46" r="11" />
      <path class="p-time" d="M76 46V35A11 11 0 0 1 86 50Z" />
    </Picture>
  );
}

export function CostPicture() {
  return (
    <Picture>
      <path class="p-cell" d="M12 4V54H92" />
      <path class="p-curve" d="M14 8C26 34 36 45 90 47" />
      {[18, 30, 39, 52, 60, 73, 85].map((x) => (
        <path key={x} class="p-tick" d={`M${x} 57v6`} />
      ))}
    </Picture>
  );
}
