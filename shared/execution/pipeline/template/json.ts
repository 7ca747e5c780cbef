/**
 * `fromJson`: reads a JSON text as template values. Objects become Maps, numbers become float64. An invalid
 * text yields an invalid value.
 */
import { MAX_TEMPLATE_JSON_DEPTH } from './bounds.ts';
import type { Value } from './values.ts';

export function fromJson(text: string): Value {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.toWellFormed());
    return convert(parsed, 0);
  } catch {
    return null;
  }
}

function convert(value: unknown, depth: number): Value {
  if (depth > MAX_TEMPLATE_JSON_DEPTH) throw new Error('JSON nested too deeply');
  // An escape of half a character becomes U+FFFD.
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'boolean') return value;
  // A number too large for a float64 is an error in Go, which yields nil.
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return value.map(item => convert(item, depth + 1));
  return new Map(Object.entries(value).map(([key, item]) => [key.toWellFormed(), convert(item, depth + 1)]));
}
