/**
 * Parameters of a request: the query string and, for POST, PUT and PATCH, the form body, parsed like Go's
 * `url.ParseQuery`. Names may repeat, and values of the body come first. An invalid escape, and `;` between
 * parameters, are status 400.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import { quote } from '../../base/model/quote.ts';
import type { HttpRequest } from './message.ts';

/** Values by name in the order sent, at least one per name. */
export type Params = ReadonlyMap<string, readonly string[]>;

/** Same limit as Go. Each pair costs two strings and a map entry. */
export const MAX_PARAMETERS = 10_000;

const FORM_METHODS = new Set(['POST', 'PUT', 'PATCH']);
const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2}).{0,2}/s;

/** Throws BadRequestError. */
export function parseParams(request: HttpRequest): Params {
  const params = new Map<string, string[]>();
  const { body, headers, method, rawQuery } = request;
  if (body.length > 0 && FORM_METHODS.has(method) && FORM_TYPE.test(headers['content-type'] ?? '')) {
    addPairs(params, Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'));
  }
  addPairs(params, rawQuery);
  return params;
}

/** First value of a parameter; empty if it is absent. */
export function param(params: Params, name: string): string {
  return params.get(name)?.[0] ?? '';
}

/** All values of a parameter. */
export function paramValues(params: Params, name: string): readonly string[] {
  return params.get(name) ?? [];
}

function addPairs(params: Map<string, string[]>, encoded: string): void {
  let start = 0;
  let pairs = 0;
  while (start < encoded.length) {
    const found = encoded.indexOf('&', start);
    const end = found === -1 ? encoded.length : found;
    if (end > start) {
      if (++pairs > MAX_PARAMETERS)
        throw new BadRequestError(`too many parameters, limit: ${MAX_PARAMETERS}`);
      addPair(params, encoded.slice(start, end));
    }
    start = end + 1;
  }
}

function addPair(params: Map<string, string[]>, pair: string): void {
  if (pair.includes(';')) throw new BadRequestError('invalid semicolon separator in query');
  const equals = pair.indexOf('=');
  const name = decodeComponent(equals === -1 ? pair : pair.slice(0, equals));
  const value = equals === -1 ? '' : decodeComponent(pair.slice(equals + 1));
  const values = params.get(name);
  if (values === undefined) params.set(name, [value]);
  else values.push(value);
}

/** Decodes a name or value of a query string. `+` is a space. Throws BadRequestError. */
export function decodeComponent(encoded: string): string {
  return decodePercent(encoded.replaceAll('+', ' '));
}

/** Decodes percent escapes. Bytes that are not UTF-8 become U+FFFD. Throws BadRequestError. */
export function decodePercent(encoded: string): string {
  if (!encoded.includes('%')) return encoded;
  const broken = BROKEN_ESCAPE.exec(encoded);
  if (broken !== null) throw new BadRequestError(`invalid URL escape ${quote(broken[0])}`);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return decodeBytes(Buffer.from(encoded));
  }
}

/** Decodes in place, because decoded text is never longer than encoded text. */
function decodeBytes(bytes: Buffer): string {
  let to = 0;
  for (let from = 0; from < bytes.length; from++, to++) {
    if (bytes[from] === 0x25) {
      bytes[to] = Number.parseInt(bytes.latin1Slice(from + 1, from + 3), 16);
      from += 2;
    } else bytes[to] = bytes[from];
  }
  return bytes.toString('utf8', 0, to);
}
