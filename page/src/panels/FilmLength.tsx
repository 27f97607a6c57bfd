/** How long a film is to last. */

import { useApp, useSession } from "./context";
import { useTyped } from "./typed";

const LONGEST = 20; // seconds, as on the server

export function FilmLength() {
  const session = useSession();
  const seconds = useApp((app) => app.filmSeconds);
  const typing = useTyped(String(seconds), (text) => {
    const wanted = Math.round(Number(text));
    if (wanted >= 1 && wanted <= LONGEST) session.store.set({ filmSeconds: wanted });
    else session.say(`A film lasts from 1 to ${LONGEST} seconds.`, "error");
  });
  return (
    // A click here is not one on a button of the menu, which would close it.
    <label class="film-length" onClick={(e) => e.stopPropagation()}>
      Film lasts
      <input class="number" type="number" min={1} max={LONGEST} step={1} {...typing} />s
    </label>
  );
}
