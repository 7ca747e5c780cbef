/**
 * Where the page is, as text: `#/logs?q=...&from=now-1h`. It lies in the fragment, so that a server sees no query in its
 * access log, and any server of files can serve the page. Every view keeps what can be shared in `params`; what is only
 * one person's taste is in settings.ts.
 */
export interface Route {
  /** The id of a view (views/registry.ts). */
  readonly view: string;
  /** Empty values are left out of the text. */
  readonly params: Readonly<Record<string, string>>;
}

export const HOME = 'logs';

/** Never throws: what is no route leads home. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '');
  const mark = text.indexOf('?');
  const view = mark === -1 ? text : text.slice(0, mark);
  const params: Record<string, string> = {};
  if (mark !== -1) {
    for (const [name, value] of new URLSearchParams(text.slice(mark + 1))) params[name] = value;
  }
  return { view: view === '' ? HOME : view, params };
}

export function formatRoute({ view, params }: Route): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== '') search.set(name, value);
  const text = search.toString();
  return text === '' ? `#/${view}` : `#/${view}?${text}`;
}
