/** Label names with a special meaning: they report errors, or parsers assign them on collisions. */
import {
  DUPLICATE_SUFFIX,
  ERROR_DETAILS_LABEL,
  ERROR_LABEL,
  PRESERVE_ERROR_LABEL,
} from '../../base/text/names.ts';

/** Returns whether the name reports errors. A line that sets such a name is left to the parser. */
export function isReservedName(name: string): boolean {
  const plain = name.endsWith(DUPLICATE_SUFFIX) ? name.slice(0, -DUPLICATE_SUFFIX.length) : name;
  return plain === ERROR_LABEL || plain === ERROR_DETAILS_LABEL || plain === PRESERVE_ERROR_LABEL;
}

/** Returns whether the name may come from a field of another name, if a stream has a label of that name. */
export function isSuffixedName(name: string): boolean {
  return name.endsWith(DUPLICATE_SUFFIX);
}
