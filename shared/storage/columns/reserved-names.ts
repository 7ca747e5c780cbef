/** Labels that are not only labels: errors are told by them, or parsers name collisions so. */
import {
  DUPLICATE_SUFFIX,
  ERROR_DETAILS_LABEL,
  ERROR_LABEL,
  PRESERVE_ERROR_LABEL,
} from '../../base/text/names.ts';

/** True for the names that errors are told by. A line that sets one is left to the parser. */
export function isReservedName(name: string): boolean {
  const plain = name.endsWith(DUPLICATE_SUFFIX) ? name.slice(0, -DUPLICATE_SUFFIX.length) : name;
  return plain === ERROR_LABEL || plain === ERROR_DETAILS_LABEL || plain === PRESERVE_ERROR_LABEL;
}

/** True for names that may come from a field of another name, because a stream has a label of that name. */
export function isSuffixedName(name: string): boolean {
  return name.endsWith(DUPLICATE_SUFFIX);
}
