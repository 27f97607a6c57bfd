/** Panels that are fetched when they are first opened, so that the map is there sooner. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSession } from "./context";

const later: (() => Promise<unknown>)[] = [];

/** Fetch everything that is not there yet, so that panels work when the server has gone. */
export async function preload(): Promise<void> {
  for (const load of later.splice(0)) await load().catch(() => undefined); // fetched when it is opened, which says why it cannot be
}

/** `meanwhile` is shown until it is there. */
export function lazy(load: () => Promise<ComponentType>, meanwhile = "…"): ComponentType {
  let known: ComponentType | null = null;
  const fetched = async (): Promise<ComponentType> => (known ??= await load());
  later.push(fetched);
  return function Later() {
    const session = useSession();
    const [Found, found] = useState<ComponentType | null>(() => known);
    useEffect(() => {
      // Also where it is known by now: `preload` may have brought it since this was drawn.
      fetched()
        .then((component) => found(() => component))
        .catch((error: unknown) => session.fail(error));
    }, [session]);
    return Found ? <Found /> : meanwhile ? <p class="empty">{meanwhile}</p> : null;
  };
}
