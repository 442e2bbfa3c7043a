import { useEffect, useState } from 'preact/hooks';

/** A value that parts of the page share and hear of. */
export interface Store<T extends object> {
  get(): T;
  set(changes: Partial<T>): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T extends object>(initial: T): Store<T> {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    set(changes) {
      value = { ...value, ...changes };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Renders again when what `select` takes from the store is another value. */
export function useStore<T extends object, S>(store: Store<T>, select: (value: T) => S): S {
  const [selected, setSelected] = useState(() => select(store.get()));
  useEffect(() => {
    const read = () => setSelected(() => select(store.get()));
    // It may have changed between the first rendering and now.
    read();
    return store.subscribe(read);
  }, [store]);
  return selected;
}
