/** A component that is loaded when it is shown first: what few people need does not make the first page heavier. */
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
        // The store was updated: what is loaded next says so.
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
