/**
 * Explorer page over HTTP: its requests, and the headers of its files. It uses plain values, so that a
 * gateway calls it first and continues with the API if the result is `undefined`. The page needs no tenant
 * and no token: it contains no data, and its API requests use the credentials of its user.
 *
 * Pitfall: API clients use `/` too. Only clients that accept HTML are redirected to the page.
 */
import type { HttpRequest, HttpResponse } from './message.ts';
import { acceptsGzip } from './respond.ts';

export interface PageFile {
  readonly bytes: Uint8Array;
  /** Compressed with gzip, if that is smaller. */
  readonly gzip?: Uint8Array;
}

export interface PageFiles {
  /** File of the built page by name, for example `index.html`; `undefined` if it does not exist. */
  read(name: string): Promise<PageFile | undefined>;
}

export const PAGE_PATH = '/ui/';
const INDEX = 'index.html';

/** Media types by extension. Files with other extensions are not served. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};

/**
 * Allows no external and no inline code: a log line that was inserted as markup could not run or load
 * anything.
 */
export const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Names of all files except the index contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

type PageRequest = Pick<HttpRequest, 'method' | 'path' | 'headers'>;

/** True if `answerPage` responds to the request. */
export function isPageRequest({ method, path, headers }: PageRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return path === '/' ? acceptsHtml(headers.accept) : path === '/ui' || path.startsWith(PAGE_PATH);
}

/** Response to a request for the page; `undefined` for other requests. */
export async function answerPage(
  request: PageRequest & Pick<HttpRequest, 'rawQuery'>,
  files: PageFiles,
): Promise<HttpResponse | undefined> {
  if (!isPageRequest(request)) return undefined;
  const { path, rawQuery, headers } = request;
  if (path === '/') return redirect('');
  if (path === '/ui') return redirect(rawQuery);
  const name = path.slice(PAGE_PATH.length) || INDEX;
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  const file = type === undefined ? undefined : await files.read(name);
  if (file === undefined) {
    return {
      status: 404,
      headers: { ...SECURITY, 'content-type': 'text/plain; charset=utf-8' },
      body: 'no such file\n',
    };
  }
  const cached = name === INDEX ? 'no-cache' : IMMUTABLE;
  const plain = { ...SECURITY, 'content-type': type, 'cache-control': cached, vary: 'Accept-Encoding' };
  if (file.gzip === undefined || !acceptsGzip(headers['accept-encoding'])) {
    return { status: 200, headers: plain, body: file.bytes };
  }
  return { status: 200, headers: { ...plain, 'content-encoding': 'gzip' }, body: file.gzip };
}

/** Relative, so that it works behind a proxy that serves the store under a sub-path. */
function redirect(rawQuery: string): HttpResponse {
  const location = `.${PAGE_PATH}${rawQuery === '' ? '' : `?${rawQuery}`}`;
  return { status: 302, headers: { location, vary: 'Accept', 'cache-control': 'no-cache' }, body: '' };
}

/** Browsers list HTML first. curl and API clients send a wildcard or nothing. */
function acceptsHtml(accept: string | undefined): boolean {
  return (accept ?? '').toLowerCase().includes('text/html');
}
