/** A value that changes and tells who listens: what several parts of the page share. */
export interface Store<T> {
  get(): T;
  /** Tells nobody where the value is the same. */
  set(next: T): void;
  /** Answers what ends it. */
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
