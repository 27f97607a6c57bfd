/** Store: a value that tells its listeners when it changes; a few lines instead of a library. */

import { useEffect, useState } from "preact/hooks";

export class Store<T extends object> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(patch: Partial<T>): void {
    const changed = (Object.keys(patch) as (keyof T)[]).some((key) => patch[key] !== this.value[key]);
    if (!changed) return;
    this.value = { ...this.value, ...patch };
    for (const listener of [...this.listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** A part of a store's value; the component is drawn again when that part changes. */
export function useStore<T extends object, S>(store: Store<T>, select: (value: T) => S): S {
  const [chosen, choose] = useState(() => select(store.get()));
  useEffect(() => {
    const look = (): void => choose(() => select(store.get()));
    look();
    return store.subscribe(look);
  }, [store]);
  return chosen;
}
