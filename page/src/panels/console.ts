/** What tests and the console of the browser find of the page, as `dwellPage`. */

import type { Session } from "../state/session";
import { maps } from "./map/exports";

export function expose(session: Session): void {
  const { store, clock } = session;
  Object.assign(globalThis, {
    dwellPage: {
      session,
      store,
      clock,
      get maps() {
        return [...maps];
      },
    },
  });
}
