/** Names of structured metadata as they are stored (wire-format 1.14, 2.4): letters, digits and single underscores. */
import { BadRequestError } from '../model/errors.ts';
import { quote } from '../model/quote.ts';

/** Names that need no change, unless they hold two underscores in a row or nothing else. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ENCLOSED = /^__(.+)__$/s;
const UNDERSCORES = /^_*$/;

/** Renamed names that are kept; the table is emptied when it is full. */
const MAX_NAMES_KEPT = 4096;
const MAX_LENGTH_KEPT = 256;
/** Characters of a name in an error; a name may be as long as a body. */
const MAX_LENGTH_SHOWN = 1024;
const renamed = new Map<string, string>();

/**
 * The name to store: each run of other characters is one underscore, `__x__` keeps its double underscores, a leading
 * digit gets `key_` before it. Throws BadRequestError where nothing but underscores is left.
 */
export function sanitizeMetadataName(name: string): string {
  if (PLAIN.test(name) && name !== '_' && !name.includes('__')) return name;
  const known = renamed.get(name);
  if (known !== undefined) return known;
  if (name === '') throw new BadRequestError('label name is empty');
  const clean = rename(name);
  if (UNDERSCORES.test(clean)) {
    const shown = quote(name.slice(0, MAX_LENGTH_SHOWN));
    throw new BadRequestError(
      `normalization for label name ${shown} resulted in invalid name ${quote(clean)}`,
    );
  }
  if (name.length <= MAX_LENGTH_KEPT) {
    if (renamed.size >= MAX_NAMES_KEPT) renamed.clear();
    renamed.set(name, clean);
  }
  return clean;
}

function rename(name: string): string {
  const enclosed = ENCLOSED.exec(name);
  if (enclosed !== null) return `__${underscored(enclosed[1])}__`;
  const clean = underscored(name);
  return clean[0] >= '0' && clean[0] <= '9' ? `key_${clean}` : clean;
}

function underscored(text: string): string {
  return text.replace(/[^A-Za-z0-9]+/g, '_');
}
