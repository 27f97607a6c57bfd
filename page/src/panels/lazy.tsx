/** Panels that are fetched when they are first opened, so that the map is there sooner. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSession } from "./context";

/** `meanwhile` is shown until it is there. */
export function lazy(load: () => Promise<ComponentType>, meanwhile = "…"): ComponentType {
  let known: ComponentType | null = null;
  return function Later() {
    const session = useSession();
    const [Found, found] = useState<ComponentType | null>(() => known);
    useEffect(() => {
      if (known) return;
      load()
        .then((component) => {
          known = component;
          found(() => component);
        })
        .catch((error: unknown) => session.fail(error));
    }, [session]);
    return Found ? <Found /> : meanwhile ? <p class="empty">{meanwhile}</p> : null;
  };
}
