/**
 * Names of structured metadata as stored (docs/dev/wire-format.md#names-of-structured-metadata,
 * #otlp-names-and-values): letters, digits and single underscores.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import { quote } from '../../base/model/quote.ts';

/**
 * Matches names that need no change, unless they contain two underscores in a row or nothing else. Only short
 * names: a name may be as long as a body, and a repeated character class uses stack for each matched
 * character.
 */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

/** Maximum renamed names in the table, which is emptied when it is full. */
const MAX_CACHED_NAMES = 4096;
const MAX_CACHED_LENGTH = 256;
/** Maximum characters of a name in an error. A name may be as long as a body. */
const MAX_LENGTH_SHOWN = 1024;
const RENAMED = new Map<string, string>();

/**
 * Returns the name to store. Each run of other characters becomes one underscore. `__x__` keeps its double
 * underscores, and a leading digit gets the prefix `key_`. Throws BadRequestError if only underscores are
 * left.
 */
export function sanitizeMetadataName(name: string): string {
  if (PLAIN.test(name) && name !== '_' && !name.includes('__')) return name;
  const known = RENAMED.get(name);
  if (known !== undefined) return known;
  if (name === '') throw new BadRequestError('label name is empty');
  const clean = rename(name);
  if (!hasLetterOrDigit(clean)) {
    const shown = quote(name.slice(0, MAX_LENGTH_SHOWN));
    throw new BadRequestError(
      `normalization for label name ${shown} resulted in invalid name ${quote(clean)}`,
    );
  }
  if (name.length <= MAX_CACHED_LENGTH) {
    if (RENAMED.size >= MAX_CACHED_NAMES) RENAMED.clear();
    RENAMED.set(name, clean);
  }
  return clean;
}

function rename(name: string): string {
  if (name.length > 4 && name.startsWith('__') && name.endsWith('__')) {
    return `__${underscored(name.slice(2, -2))}__`;
  }
  const clean = underscored(name);
  return clean[0] >= '0' && clean[0] <= '9' ? `key_${clean}` : clean;
}

/** Replaces each run of characters that are not ASCII letters or digits with one underscore. */
function underscored(text: string): string {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    if (i < text.length && isLetterOrDigit(text.charCodeAt(i))) continue;
    if (i > start) parts.push(text.slice(start, i));
    else if (i === 0 && text.length > 0) parts.push('');
    start = i + 1;
  }
  if (text.length > 0 && !isLetterOrDigit(text.charCodeAt(text.length - 1))) parts.push('');
  return parts.length === 1 && parts[0] === '' ? '_' : parts.join('_');
}

function hasLetterOrDigit(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isLetterOrDigit(text.charCodeAt(i))) return true;
  return false;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
