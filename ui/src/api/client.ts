/**
 * API requests: paths below the API root, with tenant and credentials. Every response other than success is
 * an ApiError.
 */
import { createStore } from '../state/store.ts';
import { ApiError, isAbort, messageOf } from './errors.ts';
import { credentialsMode } from './known-access.ts';
import { sessionHeaders } from './session.ts';

/** API root. The page is at `<root>/ui/`, also behind a proxy that serves the store below a path. */
const API_ROOT = new URL('..', document.baseURI);

/** Last response that requires a tenant or credentials; the sign-in sheet opens for it. */
export const refused = createStore<ApiError | undefined>(undefined);

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Query parameters; undefined and empty values are omitted. */
  readonly params?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Longer queries are sent as a form, because proxies limit URLs. */
const MAX_QUERY_CHARACTERS = 4000;

/**
 * Response to a request. `path` begins with a slash: `/svc/api/v1/labels`. A GET with long parameters becomes
 * a POST with a form, which every query endpoint accepts. Rejects with ApiError, or with an AbortError.
 */
export async function fetchResponse(path: string, options: RequestOptions = {}): Promise<Response> {
  const { params = {}, signal } = options;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  const { method = 'GET', body } = options;
  const asForm = method === 'GET' && text.length > MAX_QUERY_CHARACTERS;
  const url = new URL(path.slice(1), API_ROOT);
  if (!asForm) url.search = text;
  const credentials = await credentialsMode(API_ROOT);
  return rejecting(async () => {
    const answer = await fetch(url, {
      method: asForm ? 'POST' : method,
      headers: {
        ...sessionHeaders(),
        ...(asForm ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
        ...options.headers,
      },
      body: asForm ? text : body,
      signal,
      credentials,
    });
    if (answer.ok) return answer;
    throw new ApiError(
      (await answer.text()).trim() || `the store returned status ${answer.status}`,
      answer.status,
      answer.headers.get('x-request-id') ?? undefined,
    );
  });
}

/** Text of a response; otherwise like `fetchResponse`. */
export async function fetchText(path: string, options?: RequestOptions): Promise<string> {
  const answer = await fetchResponse(path, options);
  return rejecting(() => answer.text());
}

/** Makes an ApiError of each failure except an abort; one that requires credentials opens the sign-in sheet. */
async function rejecting<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (isAbort(error)) throw error;
    const problem =
      error instanceof ApiError ? error : new ApiError(`cannot reach the store (${messageOf(error)})`, 0);
    if (problem.status === 401) refused.set(problem);
    throw problem;
  }
}

/** URL of a WebSocket endpoint. Browsers send no headers with WebSockets: no tenant, no credentials. */
export function socketUrl(path: string, params: Readonly<Record<string, string | number>>): URL {
  const url = new URL(path.slice(1), API_ROOT);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, String(value));
  return url;
}

/** JSON of a response; otherwise like `fetchText`. */
export async function fetchJson<T>(path: string, options?: RequestOptions): Promise<T> {
  return JSON.parse(await fetchText(path, options)) as T;
}
