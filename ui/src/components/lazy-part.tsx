/** Component that loads when it is first shown, so that rarely used parts do not slow down the first page. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export function lazyPart<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function LazyPart(props: P) {
    const [, draw] = useState(0);
    useEffect(() => {
      if (loaded !== undefined) return;
      let ended = false;
      load().then(
        component => {
          loaded = component;
          if (!ended) draw(count => count + 1);
        },
        // The store was updated; the next load reports it.
        () => undefined,
      );
      return () => {
        ended = true;
      };
    }, []);
    const Part = loaded;
    return Part === undefined ? null : <Part {...props} />;
  };
}
