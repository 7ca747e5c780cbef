/** Hook that reads a store and renders again when it changes. */
import { useEffect, useState } from 'preact/hooks';
import type { Store } from './store.ts';

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    const read = () => setValue(() => store.get());
    // The value may have changed since the rendering.
    read();
    return store.subscribe(read);
  }, [store]);
  return value;
}
