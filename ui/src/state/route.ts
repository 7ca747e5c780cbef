/**
 * Route as text: `#/logs?q=...&from=now-1h`. It is in the fragment, so that queries appear in no access log,
 * and any file server can serve the page. Everything that can be shared is in `params`; personal preferences
 * are in settings.ts.
 */
export interface Route {
  /** View ID (views/registry.ts). */
  readonly view: string;
  /** Parameters; empty values are omitted from the text. */
  readonly params: Readonly<Record<string, string>>;
}

const HOME = 'logs';

/** Never throws: an invalid route leads to the start page. */
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
