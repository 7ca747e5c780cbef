/**
 * Refuses requests that a page of another site makes a browser send. Such a page cannot read responses,
 * because there is no CORS. But without tokens, or with a password that the browser remembers, it could push,
 * delete and shut down. It could also read tails, because WebSockets do not use CORS. The decision uses the
 * headers that browsers set themselves. Other programs do not send these headers, and pass.
 */
import { ForbiddenError } from '../auth/errors.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './message.ts';

/** The other values are ours: `same-origin`, and `none` for an address that a person typed. */
const FOREIGN = new Set(['cross-site', 'same-site']);
const MESSAGE =
  'pages of other sites may not send this request; add the origin to auth.allowed_origins to allow it';

/** Throws ForbiddenError. */
export function refuseForeignPage(
  access: Access,
  { headers }: HttpRequest,
  allowedOrigins: readonly string[],
): void {
  if (access.kind === 'open' || !FOREIGN.has(headers['sec-fetch-site'] ?? '')) return;
  if (headers.origin !== undefined && allowedOrigins.includes(headers.origin)) return;
  throw new ForbiddenError(MESSAGE);
}

/**
 * Checks a WebSocket on a server that knows its host name. Not every browser sends the site, but each sends
 * the origin. Throws ForbiddenError.
 */
export function refuseForeignSocket(
  { headers }: Pick<HttpRequest, 'headers'>,
  allowedOrigins: readonly string[],
): void {
  const { origin, host } = headers;
  if (origin === undefined || allowedOrigins.includes(origin)) return;
  const own = URL.parse(origin)?.host;
  // Browsers omit the default port of the scheme in both headers.
  if (own === undefined || own === '' || own !== host?.toLowerCase()) throw new ForbiddenError(MESSAGE);
}
