/** Templates, files, exports, the link, colours and help. */

import type { ThemeChoice } from "../state/link";
import { useApp, useSession } from "./context";
import { lazy } from "./lazy";
import { Templates } from "./Templates";

const FileTools = lazy(async () => (await import("./FileTools")).FileTools, "");

export function Header() {
  const session = useSession();
  const theme = useApp((app) => app.theme);
  return (
    <header class="top">
      <h1>dwell</h1>
      <Templates />
      <button class="plain strong" onClick={() => void session.run()} title="Run from the beginning (R)">
        Run
      </button>
      <span class="gap" />
      <FileTools />
      <label class="theme">
        <span class="hidden">Colours</span>
        <select
          value={theme}
          onChange={(e) => session.setTheme(e.currentTarget.value as ThemeChoice)}
          title="Colours"
        >
          <option value="system">Auto</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <button
        class="plain"
        onClick={() => session.store.set({ help: true })}
        aria-label="Help and keys"
        title="Help and keys (?)"
      >
        ?
      </button>
    </header>
  );
}
