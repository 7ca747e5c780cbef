/** Route in the address bar as a store, and the one function that changes it. */
import { formatRoute, parseRoute, type Route } from './route.ts';
import { createStore } from './store.ts';

export const route = createStore<Route>(parseRoute(window.location.hash));

/** Hash of the route. The browser reports a change by `go` later, when it is known already. */
let known = window.location.hash;

function readHash(): void {
  const { hash } = window.location;
  if (hash === known) return;
  known = hash;
  route.set(parseRoute(hash));
}

window.addEventListener('hashchange', readHash);

export interface GoOptions {
  /** Replaces the history entry, for details of the same page. */
  readonly replace?: boolean;
}

/** Navigates to a view with parameters. Keeps the tenant unless `params` sets one. */
export function go(view: string, params: Route['params'] = {}, { replace = false }: GoOptions = {}): void {
  const { tenant } = route.get().params;
  const hash = formatRoute({ view, params: tenant === undefined ? params : { tenant, ...params } });
  if (hash === window.location.hash) return;
  if (replace) window.history.replaceState(undefined, '', hash);
  else window.location.hash = hash;
  readHash();
}

/** Changes parameters of this view; empty ones are removed. */
export function changeParams(changes: Route['params'], options: GoOptions = {}): void {
  const { view, params } = route.get();
  go(view, { ...params, ...changes }, options);
}

/** URL for links to the place that `go` navigates to. */
export function hrefOf(view: string, params: Route['params'] = {}): string {
  const { tenant } = route.get().params;
  return formatRoute({ view, params: tenant === undefined ? params : { tenant, ...params } });
}
