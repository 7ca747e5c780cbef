/** Parameters of the second of two queries in the URL (pane.ts), without DOM. */
import { DEFAULT_RANGE } from '../time/time-range.ts';
import type { Route } from './route.ts';

type Params = Route['params'];

/** Names of the parameters that a pane keeps in the URL. */
export const PANE_NAMES = [
  'q',
  'scope',
  'from',
  'to',
  'order',
  'chart',
  'compare',
  'unit',
  'more',
  'refresh',
  'live',
  'cols',
];

export function secondParams(all: Params): Params {
  const found = PANE_NAMES.flatMap(name => {
    const value = all[`${name}2`];
    return value === undefined ? [] : [[name, value] as const];
  });
  const sharesRange = all.from2 === undefined && all.to2 === undefined;
  const range = sharesRange ? { from: all.from, to: all.to } : {};
  const known = Object.entries(range).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries([...known, ...found]);
}

/**
 * Changes for the second pane. A range equal to the first pane's is omitted; a different one is always
 * written.
 */
export function secondChanges(changes: Params, all: Params): Params {
  const next = Object.fromEntries(Object.entries(changes).map(([name, value]) => [`${name}2`, value]));
  if (changes.from === undefined || changes.to === undefined) return next;
  const from = changes.from || DEFAULT_RANGE.from;
  const to = changes.to || DEFAULT_RANGE.to;
  const isSame = from === (all.from ?? DEFAULT_RANGE.from) && to === (all.to ?? DEFAULT_RANGE.to);
  return { ...next, from2: isSame ? '' : from, to2: isSame ? '' : to };
}
