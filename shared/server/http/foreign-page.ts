/**
 * Requests that a page of another site makes a browser send. Such a page cannot read answers (there is no CORS here), but it
 * could push, delete and shut down: on a machine where no token is asked for, or with a password that the browser remembers.
 * And it could read tails, as WebSockets know no CORS. So what browsers themselves say of the page decides; programs say
 * nothing, and pass.
 */
import { ForbiddenError } from '../auth/errors.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './message.ts';

/** What is left (`same-origin`, and `none` for an address that a person typed) is ours. */
const FOREIGN = new Set(['cross-site', 'same-site']);
const MESSAGE = 'pages of other sites may not call this (auth.allowed_origins names those that may)';

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

/** For a WebSocket of a server that knows its own name: not every browser tells a site, but each tells the origin. Throws ForbiddenError. */
export function refuseForeignSocket({ headers }: HttpRequest, allowedOrigins: readonly string[]): void {
  const { origin, host } = headers;
  if (origin === undefined || allowedOrigins.includes(origin)) return;
  const own = URL.parse(origin)?.host;
  // A browser leaves the port away where it is the scheme's own, in both headers.
  if (own === undefined || own === '' || own !== host?.toLowerCase()) throw new ForbiddenError(MESSAGE);
}
