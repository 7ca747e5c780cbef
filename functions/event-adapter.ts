/**
 * Events of an HTTP API to requests, and answers to results: the only place that knows their shapes.
 *
 * A reader would get wrong:
 *  - `queryStringParameters` joins repeated values with commas, which cannot be undone: only `rawQueryString` counts.
 *  - `rawPath` has been decoded once. What cannot stand in a path is encoded again; an escape that is left was encoded
 *    twice by the client, which is the one way to send a slash inside a parameter: the gateway knows no route for `%2F`.
 *  - The platform limits the result as JSON, so base64 counts at four thirds and the quotes of a text twice.
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
/** Of Lambda, for a buffered event or result as JSON. */
export const MAX_PAYLOAD_BYTES = 6 * MIB;
/** What of an event may be body: 6 MiB of base64 are 4.5 MiB; headers of 10 KB appear in it up to three times. */
export const MAX_BODY_BYTES = Math.floor(4.4 * MIB);
/** Even where JSON escapes each character by six, such a text fits; larger ones go as base64, of known size. */
const MAX_TEXT_BYTES = 64 * 1024;

const NOT_ASCII = /[^\0-\x7f]/;
/** What no encoded path contains; a `%` that begins no escape too. */
const NOT_IN_PATH = /[^!$&-;=@A-Z_a-z~%-]|%(?![0-9A-Fa-f]{2})/gu;
const NO_BODY = new Uint8Array(0);

/** All of a request but its signal. Throws BadRequestError. */
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
    // As node:http gives them: a character for each byte.
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

/** The answer for the gateway; one that the platform cannot return becomes a 400 that says what to ask for instead. */
export function resultOf(
  response: HttpResponse,
  { method, id }: Pick<HttpRequest, 'method' | 'id'>,
): HttpApiResult {
  const result = encode(response, method, id);
  // Base64 has nothing to escape, and what is text is far below the limit.
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
    `the answer is too large for this deployment (${formatByteQuantity(bytes)} as sent, limit: ` +
      `${formatByteQuantity(MAX_PAYLOAD_BYTES)}); lower limit, raise step, shorten the time range or select fewer streams` +
      (isCompressed ? '' : ', or accept gzip'),
    'query',
  );
}
