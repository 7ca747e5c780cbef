/**
 * Two queries side by side: parameters of the second have a 2 after their names (`q2`). It uses the first
 * one's time range until it has its own.
 */
import { createContext } from 'preact';
import { useCallback, useContext, useMemo } from 'preact/hooks';
import { changeParams, type GoOptions, route } from './navigation.ts';
import type { Route } from './route.ts';
import { PANE_NAMES, secondChanges, secondParams } from './second-pane.ts';
import { useStore } from './use-store.ts';

export type PaneId = '' | '2';
type Params = Route['params'];

export const Pane = createContext<PaneId>('');

interface PaneParams {
  readonly id: PaneId;
  /** Parameters by their names in the first pane. */
  readonly params: Params;
  change(changes: Params, options?: GoOptions): void;
}

export function usePane(): PaneParams {
  const id = useContext(Pane);
  const all = useStore(route).params;
  const params = useMemo(() => (id === '' ? all : secondParams(all)), [id, all]);
  const change = useCallback(
    (changes: Params, options?: GoOptions) =>
      changeParams(id === '' ? changes : secondChanges(changes, route.get().params), options),
    [id],
  );
  return { id, params, change };
}

/** Opens a second pane with the query of the first one. */
export function splitView(query: string): void {
  changeParams({ split: '1', q2: query });
}

export function closeSplit(): void {
  changeParams({ split: '', ...Object.fromEntries(PANE_NAMES.map(name => [`${name}2`, ''])) });
}
