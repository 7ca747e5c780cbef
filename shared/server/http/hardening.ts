/**
 * Headers that every answer has, whatever made it: they tell browsers to take an API's answers for what they are and for nothing
 * else. A page that needs more says so itself: what an answer brings wins.
 */
import type { HttpResponse } from './message.ts';

const ALWAYS: readonly (readonly [string, string])[] = [
  // A log line that looks like HTML stays text.
  ['x-content-type-options', 'nosniff'],
  // No other site shows ours in a frame, and an answer that a browser opens runs nothing.
  ['x-frame-options', 'DENY'],
  ['content-security-policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'"],
  // Queries stand in addresses, and addresses in the header Referer.
  ['referrer-policy', 'no-referrer'],
  // Logs belong in no cache that somebody else may read.
  ['cache-control', 'no-store'],
];
/** Two years. Only where every answer comes by TLS, or a browser could never come back to one that does not. */
const TLS_ONLY = ['strict-transport-security', 'max-age=63072000'] as const;

export interface HardeningOptions {
  /** Nobody can reach this by plain HTTP. */
  readonly tlsOnly?: boolean;
}

export function hardenedHeaders(
  headers: HttpResponse['headers'],
  { tlsOnly = false }: HardeningOptions = {},
): Record<string, string> {
  const out: Record<string, string> = { ...headers };
  for (const [name, value] of ALWAYS) out[name] ??= value;
  if (tlsOnly) out[TLS_ONLY[0]] ??= TLS_ONLY[1];
  return out;
}
