/** The scenario that is open, and templates to choose from, each with what it is about. */

import { useMemo, useRef } from "preact/hooks";
import { useApp, useSession } from "./context";

const TYPED = /^(Arrow|Page|Home|End|.$)/; // keys that go on choosing

export function Templates() {
  const session = useSession();
  const templates = useApp((app) => app.templates);
  const scenario = useApp((app) => app.scenario);
  const keyed = useRef(false); // whether keys choose, one after another
  // One that was changed is no template any more: choosing that again brings it back as it was.
  const known = useMemo(() => {
    const now = JSON.stringify(scenario);
    return templates.find((one) => JSON.stringify(one.scenario) === now);
  }, [templates, scenario]);
  const inStory = useApp((app) => app.story !== null); // its runs are shorter than those of templates
  const changed = !inStory && templates.some((one) => one.title === scenario?.name);
  const own = changed
    ? `${scenario?.name}, changed`
    : (scenario?.name ?? (scenario ? "own scenario" : "loading…"));
  const shown = useRef("");
  shown.current = known?.name ?? "";
  const choose = async (select: HTMLSelectElement): Promise<void> => {
    if (!keyed.current) select.blur(); // so that Space plays
    const found = templates.find((one) => one.name === select.value);
    if (found) await session.open(found.scenario);
    select.value = shown.current; // the one that is open, also if another was refused
  };
  return (
    <label class="template">
      <span class="label">Scenario</span>
      <select
        value={known?.name ?? ""}
        onPointerDown={() => (keyed.current = false)}
        onKeyDown={(e) => (keyed.current = TYPED.test(e.key) && e.key !== " ")}
        onChange={(e) => void choose(e.currentTarget)}
      >
        {!known && <option value="">{own}</option>}
        {templates.map((one) => (
          <option key={one.name} value={one.name}>
            {one.title}: {one.about}
          </option>
        ))}
      </select>
    </label>
  );
}
