/**
 * The explorer page over HTTP: which requests are the page's, and what its files are sent with. Made of plain values, so
 * that a gateway asks here first and goes on to the API where the answer is undefined. The page asks for no tenant and no
 * token: it holds no data, and what it shows comes from the API with the credentials of its user.
 *
 * What a reader would get wrong: `/` belongs to API clients too. Only who says that it takes HTML is sent to the page.
 */
import type { HttpRequest, HttpResponse } from './message.ts';
import { acceptsGzip } from './respond.ts';

export interface PageFile {
  readonly bytes: Uint8Array;
  /** The same in gzip, where that is smaller. */
  readonly gzip?: Uint8Array;
}

export interface PageFiles {
  /** A file of the built page by its name, for example `index.html`; undefined where it has no such file. */
  read(name: string): Promise<PageFile | undefined>;
}

export const PAGE_PATH = '/ui/';
const INDEX = 'index.html';

/** By ending. What has none of these is not served. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};

/** Nothing from elsewhere, nothing inline: a log line that got into the page as markup could not run or load anything. */
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

/** The names of all files but the index carry a hash of their content. */
const FOR_GOOD = 'public, max-age=31536000, immutable';

/** The answer to a request of the page; undefined where the request is not the page's. */
export async function answerPage(
  { method, path, rawQuery, headers }: Pick<HttpRequest, 'method' | 'path' | 'rawQuery' | 'headers'>,
  files: PageFiles,
): Promise<HttpResponse | undefined> {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/') return takesHtml(headers.accept) ? redirect('') : undefined;
  if (path === '/ui') return redirect(rawQuery);
  if (!path.startsWith(PAGE_PATH)) return undefined;
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
  const cached = name === INDEX ? 'no-cache' : FOR_GOOD;
  const plain = { ...SECURITY, 'content-type': type, 'cache-control': cached, vary: 'Accept-Encoding' };
  if (file.gzip === undefined || !acceptsGzip(headers['accept-encoding'])) {
    return { status: 200, headers: plain, body: file.bytes };
  }
  return { status: 200, headers: { ...plain, 'content-encoding': 'gzip' }, body: file.gzip };
}

/** Relative, so that it holds behind a proxy that serves the store under a path of its own. */
function redirect(rawQuery: string): HttpResponse {
  const location = `.${PAGE_PATH}${rawQuery === '' ? '' : `?${rawQuery}`}`;
  return { status: 302, headers: { location, vary: 'Accept', 'cache-control': 'no-cache' }, body: '' };
}

/** Browsers name it first; curl and clients of the API send a star, or nothing. */
function takesHtml(accept: string | undefined): boolean {
  return (accept ?? '').toLowerCase().includes('text/html');
}
