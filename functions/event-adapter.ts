/**
 * Converts HTTP API events to requests, and responses to results. No other module knows these shapes.
 *
 * Pitfall: - `queryStringParameters` joins repeated values with commas, which cannot be undone. Use only
 * `rawQueryString`. - `rawPath` is decoded once. Characters that a path cannot contain are encoded again. A
 * remaining escape was encoded
 *    twice by the client, which is the only way to send a slash inside a parameter: the gateway has no route for `%2F`.
 * - The platform limits the result as JSON, so base64 counts 4/3 and the quotes of a text count twice.
 */

import { TooLargeError } from '../shared/base/model/errors.ts';
import { formatByteQuantity } from '../shared/read/query/byte-quantity.ts';
import { errorResponse } from '../shared/server/http/errors.ts';
import { hardenedHeaders } from '../shared/server/http/hardening.ts';
import type { HttpRequest, HttpResponse } from '../shared/server/http/message.ts';
import { identityIn } from './authorizer-context.ts';
import type { HttpApiEvent, HttpApiResult } from './lambda-event.ts';
import { compressedText, type TextBody } from './text-body.ts';

const MIB = 1024 * 1024;
/** Lambda's limit for a buffered event or result as JSON. */
export const MAX_PAYLOAD_BYTES = 6 * MIB;
/**
 * Maximum body size: 6 MiB of base64 hold 4.5 MiB, and headers of 10 KB appear in the event up to three
 * times.
 */
export const MAX_EVENT_BODY_BYTES = Math.floor(4.4 * MIB);
/**
 * Text up to this size fits even if JSON escapes each character with 6 bytes. Larger text is sent as base64,
 * which has a known size.
 */
const MAX_TEXT_BYTES = 64 * 1024;

const NOT_ASCII = /[^\0-\x7f]/;
/** Characters that an encoded path cannot contain, including a `%` that starts no escape. */
const NOT_IN_PATH = /[^!$&-;=@A-Z_a-z~%-]|%(?![0-9A-Fa-f]{2})/gu;
const NO_BODY = new Uint8Array(0);

/** Returns the request without its signal. Throws BadRequestError. */
export function requestOf(event: HttpApiEvent, id: string): Omit<HttpRequest, 'signal'> {
  const headers = headersOf(event);
  const { body, isEncoded } = bodyOf(event, headers['content-encoding']);
  if (!isEncoded) delete headers['content-encoding'];
  return {
    method: event.requestContext.http.method.toUpperCase(),
    path: pathOf(event),
    rawQuery: event.rawQueryString ?? '',
    headers,
    body,
    id,
    clientAddress: event.requestContext.http.sourceIp,
    identity: identityIn(event.requestContext.authorizer?.lambda),
  };
}

function pathOf({ rawPath, requestContext: { stage = '$default' } }: HttpApiEvent): string {
  const prefix = stage === '$default' ? '' : `/${stage}`;
  const isPrefixed = rawPath === prefix || rawPath.startsWith(`${prefix}/`);
  const path = isPrefixed ? rawPath.slice(prefix.length) : rawPath;
  return path === ''
    ? '/'
    : path.replace(NOT_IN_PATH, character => encodeURIComponent(character.toWellFormed()));
}

export function headersOf({
  headers = {},
  cookies = [],
}: Pick<HttpApiEvent, 'headers' | 'cookies'>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [written, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const name = written.toLowerCase();
    // Same form as node:http: one character per byte.
    const bytes = NOT_ASCII.test(value) ? Buffer.from(value).toString('latin1') : value;
    out[name] = out[name] === undefined ? bytes : `${out[name]}, ${bytes}`;
  }
  if (cookies.length > 0) out.cookie = cookies.join('; ');
  return out;
}

function bodyOf({ body, isBase64Encoded }: HttpApiEvent, encoding = ''): TextBody {
  if (body === undefined || body === '') return { body: NO_BODY, isEncoded: true };
  if (isBase64Encoded) return { body: Buffer.from(body, 'base64'), isEncoded: true };
  if (encoding === '' || encoding.toLowerCase() === 'identity')
    return { body: Buffer.from(body), isEncoded: true };
  return compressedText(body, encoding);
}

/** Throws TooLargeError. */
export function checkBodySize(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw new TooLargeError(
    `request body too large: message size too large than max (${bytes} vs ${maxBytes}); ` +
      'lower the batch size of the client (for example batch_size, batchSize or send_batch_max_size)',
  );
}

/** Result for the gateway. A response that is too large for the platform becomes status 400 with advice. */
export function resultOf(
  response: HttpResponse,
  { method, id }: Pick<HttpRequest, 'method' | 'id'>,
): HttpApiResult {
  const result = encode(response, method, id);
  // Base64 needs no escapes, and text is far below the limit.
  const bytes = Buffer.byteLength(JSON.stringify({ ...result, body: '' })) + result.body.length;
  return bytes <= MAX_PAYLOAD_BYTES ? result : encode(tooLong(response, bytes), method, id);
}

function encode({ status, headers, body }: HttpResponse, method: string, id: string): HttpApiResult {
  const hasBody = status !== 204 && status !== 304 && method !== 'HEAD';
  const isText = typeof body === 'string' && Buffer.byteLength(body) <= MAX_TEXT_BYTES;
  return {
    statusCode: status,
    headers: { ...hardenedHeaders(headers, { tlsOnly: true }), 'x-request-id': id },
    body: !hasBody ? '' : isText ? body : toBase64(body),
    isBase64Encoded: hasBody && !isText,
  };
}

function toBase64(body: string | Uint8Array): string {
  const bytes =
    typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.length);
  return bytes.toString('base64');
}

function tooLong({ headers }: HttpResponse, bytes: number): HttpResponse {
  const isCompressed = headers['content-encoding'] !== undefined;
  return errorResponse(
    400,
    `the response is too large for this deployment (${formatByteQuantity(bytes)} as sent, limit: ` +
      `${formatByteQuantity(MAX_PAYLOAD_BYTES)}); lower limit, raise step, shorten the time range or select fewer streams` +
      (isCompressed ? '' : ', or accept gzip'),
    'query',
  );
}
