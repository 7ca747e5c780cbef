/** Does something again and again, as long as the page is seen: what nobody looks at asks the store nothing. */
import { useEffect, useRef } from 'preact/hooks';

/** `everyMs` of 0: never. */
export function useEvery(everyMs: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (everyMs === 0) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
