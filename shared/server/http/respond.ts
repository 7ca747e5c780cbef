/** Creates responses: JSON, text, empty; and compresses them with gzip for clients that accept it. */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { releaseBody } from '../../base/model/shared-bodies.ts';
import type { HttpResponse } from './message.ts';

const gzipAsync = promisify(gzip);

/** Smaller bodies fit one network packet, so compression saves nothing. */
const MIN_COMPRESSED_BYTES = 1400;
/** Level 1 is about four times as fast as the default, for 15% more bytes. Clients wait for the response. */
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED };
const COMPRESSIBLE = /^(?:text\/|application\/(?:json|yaml|openmetrics-text|x-ndjson))/;

const JSON_TYPE = 'application/json; charset=UTF-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

export function json(value: unknown, status = 200): HttpResponse {
  return jsonText(wellFormedJson(value), status);
}

/**
 * Encodes JSON in which lone surrogates, which represent bytes that are not UTF-8 (byte-text.ts), become
 * U+FFFD.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON's escape of a lone surrogate, or a backslash and these letters.
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_key, item) => (typeof item === 'string' ? item.toWellFormed() : item));
}

/** Response with a body that is already JSON. */
export function jsonText(body: string | Uint8Array, status = 200): HttpResponse {
  return { status, headers: { 'content-type': JSON_TYPE }, body };
}

export function text(body: string, status = 200, contentType = TEXT_TYPE): HttpResponse {
  return { status, headers: { 'content-type': contentType }, body };
}

export function noContent(): HttpResponse {
  return { status: 204, headers: {}, body: '' };
}

/** Compresses the response if the client accepts gzip and it saves bytes; otherwise returns it unchanged. */
export async function compressResponse(
  response: HttpResponse,
  acceptEncoding: string | undefined,
): Promise<HttpResponse> {
  const { headers, body } = response;
  if (body.length === 0 || headers['content-encoding'] !== undefined) return response;
  if (!COMPRESSIBLE.test(headers['content-type'] ?? '')) return response;
  const varied = { ...headers, vary: 'Accept-Encoding' };
  if (!acceptsGzip(acceptEncoding)) return { ...response, headers: varied };
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length < MIN_COMPRESSED_BYTES) return { ...response, headers: varied, body: bytes };
  const compressed = await gzipAsync(bytes, GZIP_OPTIONS);
  if (response.isBodyShared) releaseBody(bytes);
  return {
    ...response,
    isBodyShared: false,
    headers: { ...varied, 'content-encoding': 'gzip' },
    body: compressed,
  };
}

/** RFC 9110, 12.5.3: a quality of 0 refuses, and `*` covers all unnamed encodings. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  let any = false;
  for (const part of (acceptEncoding ?? '').split(',')) {
    const [name, ...parameters] = part.split(';').map(piece => piece.trim().toLowerCase());
    const accepted = !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter));
    if (name === 'gzip' || name === 'x-gzip') return accepted;
    if (name === '*') any = accepted;
  }
  return any;
}
