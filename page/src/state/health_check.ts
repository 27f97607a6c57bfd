/** Checks now and then whether the server is there, also while nothing runs. */

import { health, Unreachable } from "../net/api";
import type { Store } from "./store";

const ASK_EVERY = 4000; // milliseconds
const ASK_AGAIN = 1000; // while it is not there

export function keepAsking(store: Store<{ offline: boolean }>, backAgain: () => void): void {
  const ask = async (): Promise<void> => {
    try {
      if (document.hidden) return; // requested again once the page is shown
      await health();
      if (store.get().offline) {
        store.set({ offline: false });
        backAgain();
      }
    } catch (error) {
      if (error instanceof Unreachable) store.set({ offline: true });
    } finally {
      window.setTimeout(() => void ask(), store.get().offline ? ASK_AGAIN : ASK_EVERY);
    }
  };
  void ask();
}
