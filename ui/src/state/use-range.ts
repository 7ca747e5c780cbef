/** Time range of the URL, for views with `from` and `to` parameters. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { DEFAULT_RANGE, type RangeText, type ResolvedRange, resolveRange } from '../time/time-range.ts';
import { changeParams, route } from './navigation.ts';
import { settings } from './settings.ts';
import { useStore } from './use-store.ts';

export interface RangeState {
  readonly text: RangeText;
  /**
   * Resolved range; undefined if it is invalid. The same object until the text changes or `renew` is called.
   */
  readonly resolved: ResolvedRange | undefined;
  change(text: RangeText): void;
  /** Resolves a relative range again, with a new "now". */
  renew(): void;
}

export function useRange(): RangeState {
  const { params } = useStore(route);
  const { zone } = useStore(settings);
  const [round, setRound] = useState(0);
  const from = params.from ?? DEFAULT_RANGE.from;
  const to = params.to ?? DEFAULT_RANGE.to;
  // Each run uses the current time.
  const resolved = useMemo(
    () => resolveRange({ from, to }, { nowMs: Date.now(), utc: zone === 'utc' }),
    [from, to, zone, round],
  );
  const change = useCallback((text: RangeText) => changeParams(paramsOfRange(text)), []);
  const renew = useCallback(() => setRound(count => count + 1), []);
  return { text: { from, to }, resolved, change, renew };
}

/** URL parameters of a range; default values are omitted. */
export function paramsOfRange({ from, to }: RangeText): Readonly<Record<'from' | 'to', string>> {
  const isDefault = from === DEFAULT_RANGE.from && to === DEFAULT_RANGE.to;
  return { from: isDefault ? '' : from, to: to === DEFAULT_RANGE.to ? '' : to };
}
