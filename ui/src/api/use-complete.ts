/** Completions for a range that changes; keeps the cache. */
import { useMemo, useRef } from 'preact/hooks';
import { type Complete, createComplete } from './complete.ts';
import type { MsRange } from './queries.ts';

export function useComplete(range: MsRange | undefined): Complete {
  const latest = useRef(range);
  latest.current = range;
  return useMemo(() => createComplete(() => latest.current), []);
}
