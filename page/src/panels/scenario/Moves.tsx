/** A parameter that changes over time, in the place of its field. */

import { trackInWords } from "../../world/words";

export function Moves({ name, track }: { name: string; track: unknown }) {
  return (
    <p class="moves">
      <span>{name}</span> <span class="dim">changes over time: {trackInWords(track)}</span>
    </p>
  );
}
