/**
 * Formats errors as responses (docs/dev/wire-format.md#errors, #status-codes-of-queries). There are three styles: `push` ends the
 * message with a newline (push, deletes, rules, status pages), `query` does not, `otlp` uses the message
 * format of OTLP clients (docs/dev/wire-format.md#errors-of-otlp). A missing tenant is plain text with the newline in all styles. Errors not
 * caused by the client are logged with the request ID, and their details are not shown.
 */

import { ClientError, CorruptionError } from '../../base/model/errors.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import { StorageUnavailableError } from '../../base/ports/storage-unavailable.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { UnauthenticatedError } from '../auth/errors.ts';
import type { HttpResponse } from './message.ts';
import { otlpErrorResponse } from './otlp-error.ts';

export type ErrorStyle = 'push' | 'query' | 'otlp';

/** The required part of a logger, compatible with pino. */
export interface ErrorLog {
  error(fields: object, message: string): void;
}

/** Challenge that makes clients of HTTP Basic send their credentials. */
const CHALLENGE = Object.freeze({ 'www-authenticate': 'Basic realm="logboom", charset="UTF-8"' });
export const OVERLOADED = 'The server cannot accept more requests at this time.';
const TOO_MANY_OUTSTANDING = 'too many outstanding requests';
const CANCELED = 'the request was cancelled by the client';
const TIMED_OUT =
  'request timed out, decrease the duration of the request or add more label matchers (prefer exact match over regex match) to reduce the amount of data processed';

/** Client closed request: the reference's number, which the HTTP standard does not define. */
const STATUS_CANCELED = 499;

export function errorResponse(status: number, message: string, style: ErrorStyle): HttpResponse {
  if (style === 'otlp' && status !== 401) return otlpErrorResponse(status, message);
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: style !== 'query' || status === 401 ? `${message}\n` : message,
  };
}

/** Formats any error that a handler threw. Never throws. */
export function responseOfError(
  error: unknown,
  { style, requestId, log }: { style: ErrorStyle; requestId: string; log: ErrorLog },
): HttpResponse {
  const known = knownError(error, style);
  // The client learns that the disk is the reason. Details are only for the operator.
  if (error instanceof StorageUnavailableError) log.error({ requestId, err: error }, 'storage failed');
  if (known !== undefined) {
    const response = errorResponse(known.status, known.message, style);
    if (!(error instanceof UnauthenticatedError)) return response;
    return { ...response, headers: { ...response.headers, ...CHALLENGE } };
  }
  log.error({ requestId, err: error }, 'request failed');
  const damaged = damagedPart(error);
  if (damaged !== undefined) {
    return errorResponse(500, `stored data is damaged: ${damaged}; run logboom doctor`, style);
  }
  return errorResponse(500, `internal error, request id ${requestId}`, style);
}

/** Names the damaged or missing data for the operator; `undefined` for other errors. */
function damagedPart(error: unknown): string | undefined {
  if (error instanceof AggregateError) return error.errors.map(damagedPart).find(part => part !== undefined);
  if (error instanceof CorruptionError) return error.message.split(': ', 1)[0];
  return error instanceof ObjectNotFoundError ? error.message : undefined;
}

interface KnownError {
  readonly status: number;
  readonly message: string;
}

function knownError(error: unknown, style: ErrorStyle): KnownError | undefined {
  if (error instanceof ClientError) return { status: error.status, message: error.message };
  if (error instanceof ThrottledError) {
    return style === 'query'
      ? { status: 429, message: TOO_MANY_OUTSTANDING }
      : { status: 503, message: OVERLOADED };
  }
  if (error instanceof StorageUnavailableError) return { status: 503, message: error.message };
  if (error instanceof AggregateError) return ofSeveral(error.errors, style);
  // Names that AbortController.abort() and AbortSignal.timeout() give their reasons.
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  if (name === 'AbortError') return { status: STATUS_CANCELED, message: CANCELED };
  if (name === 'TimeoutError') return { status: 504, message: TIMED_OUT };
  return undefined;
}

/**
 * Selects one error of sub-queries. A cancellation comes first, then a timeout of all, then a client error,
 * then a full disk.
 */
function ofSeveral(errors: readonly unknown[], style: ErrorStyle): KnownError | undefined {
  const known = errors.map(error => knownError(error, style));
  const canceled = known.find(error => error?.status === STATUS_CANCELED);
  if (canceled !== undefined) return canceled;
  if (known.length > 0 && known.every(error => error?.status === 504)) return known[0];
  const ofClient = known.find(error => error !== undefined && error.status >= 400 && error.status < 500);
  return ofClient ?? known[errors.findIndex(error => error instanceof StorageUnavailableError)];
}
