/** The route that the address bar holds, as a store, and the one way to change it. */
import { formatRoute, parseRoute, type Route } from './route.ts';
import { createStore } from './store.ts';

export const route = createStore<Route>(parseRoute(window.location.hash));

window.addEventListener('hashchange', () => route.set(parseRoute(window.location.hash)));

export interface GoOptions {
  /** Leave no step for the Back button: for what is a detail of the same page. */
  readonly replace?: boolean;
}

/** To a view, with its parameters; the tenant goes along unless `params` names one. */
export function go(view: string, params: Route['params'] = {}, { replace = false }: GoOptions = {}): void {
  const { tenant } = route.get().params;
  const hash = formatRoute({ view, params: tenant === undefined ? params : { tenant, ...params } });
  if (hash === window.location.hash) return;
  if (replace) {
    window.history.replaceState(undefined, '', hash);
    route.set(parseRoute(hash));
  } else window.location.hash = hash;
}

/** Changes some parameters of this view; empty ones are taken away. */
export function changeParams(changes: Route['params'], options: GoOptions = {}): void {
  const { view, params } = route.get();
  go(view, { ...params, ...changes }, options);
}

/** For links: the same place as `go` leads to. */
export function hrefOf(view: string, params: Route['params'] = {}): string {
  const { tenant } = route.get().params;
  return formatRoute({ view, params: tenant === undefined ? params : { tenant, ...params } });
}
