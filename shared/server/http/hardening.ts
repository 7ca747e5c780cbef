/**
 * Security headers of every response. They make browsers treat an API response only as data. Headers of the
 * response itself override them, for example those of the explorer page.
 */
import type { HttpResponse } from './message.ts';

const ALWAYS: readonly (readonly [string, string])[] = [
  // A log line that looks like HTML stays text.
  ['x-content-type-options', 'nosniff'],
  // Other sites cannot frame the response, and a browser that opens it runs nothing.
  ['x-frame-options', 'DENY'],
  ['content-security-policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'"],
  // Addresses contain queries, and the header Referer contains addresses.
  ['referrer-policy', 'no-referrer'],
  // Shared caches must not store logs.
  ['cache-control', 'no-store'],
];
/** Two years. Only with TLS for every response, because browsers would then refuse plain HTTP. */
const TLS_ONLY = ['strict-transport-security', 'max-age=63072000'] as const;

interface HardeningOptions {
  /** True if no client can use plain HTTP. */
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
