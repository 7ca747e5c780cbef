/** A component that shows a store's value, and is drawn again when it changes. */
import { useEffect, useState } from 'preact/hooks';
import type { Store } from './store.ts';

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get);
  useEffect(() => {
    const read = () => setValue(() => store.get());
    // It may have changed between the drawing and now.
    read();
    return store.subscribe(read);
  }, [store]);
  return value;
}
