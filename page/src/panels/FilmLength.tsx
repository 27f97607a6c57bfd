/** How long a film is to last. */

import { useApp, useSession } from "./context";

const LONGEST = 20; // seconds, as on the server

export function FilmLength() {
  const session = useSession();
  const seconds = useApp((app) => app.filmSeconds);
  const set = (input: HTMLInputElement): void => {
    const asked = Math.round(Number(input.value));
    if (asked >= 1 && asked <= LONGEST) session.store.set({ filmSeconds: asked });
    else session.say(`A film lasts from 1 to ${LONGEST} seconds.`, "error");
    input.value = String(session.store.get().filmSeconds);
  };
  return (
    // A click here is not one on a button of the menu, which would close it.
    <label class="film-length" onClick={(e) => e.stopPropagation()}>
      Film lasts
      <input class="number" type="number" min={1} max={LONGEST} step={1} value={seconds} onChange={(e) => set(e.currentTarget)} />s
    </label>
  );
}
