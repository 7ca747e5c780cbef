/** Repeats an action while the page is visible, so that hidden pages send no requests. */
import { useEffect, useRef } from 'preact/hooks';

/** `everyMs` of 0 means never. */
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
