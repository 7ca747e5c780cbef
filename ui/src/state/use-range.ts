/** The range of time that the address names, for views whose address has `from` and `to` as the log view's has. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { DEFAULT_RANGE, type RangeText, type ResolvedRange, resolveRange } from '../time/time-range.ts';
import { changeParams, route } from './navigation.ts';
import { settings } from './settings.ts';
import { useStore } from './use-store.ts';

export interface RangeState {
  readonly text: RangeText;
  /** Undefined where it is none. The same object until the text changes or `renew` is called. */
  readonly resolved: ResolvedRange | undefined;
  change(text: RangeText): void;
  /** A relative range ends now, and now is another time. */
  renew(): void;
}

export function useRange(): RangeState {
  const { params } = useStore(route);
  const { zone } = useStore(settings);
  const [round, setRound] = useState(0);
  const from = params.from ?? DEFAULT_RANGE.from;
  const to = params.to ?? DEFAULT_RANGE.to;
  // Each round has its own now.
  const resolved = useMemo(
    () => resolveRange({ from, to }, { nowMs: Date.now(), utc: zone === 'utc' }),
    [from, to, zone, round],
  );
  const change = useCallback((text: RangeText) => changeParams(rangeParams(text)), []);
  const renew = useCallback(() => setRound(count => count + 1), []);
  return { text: { from, to }, resolved, change, renew };
}

/** What the address has of a range: nothing of what is as it is without being named. */
export function rangeParams({ from, to }: RangeText): Readonly<Record<'from' | 'to', string>> {
  const isDefault = from === DEFAULT_RANGE.from && to === DEFAULT_RANGE.to;
  return { from: isDefault ? '' : from, to: to === DEFAULT_RANGE.to ? '' : to };
}
