/** A value with listeners that are called when it changes. */

import { useEffect, useReducer, useRef } from "preact/hooks";

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
  const chosen = select(store.get());
  const latest = useRef({ select, chosen });
  latest.current = { select, chosen }; // the selector of this render: it may close over props
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const compare = (): void => {
      if (latest.current.select(store.get()) !== latest.current.chosen) again(undefined as never);
    };
    compare();
    return store.subscribe(compare);
  }, [store]);
  return chosen;
}
