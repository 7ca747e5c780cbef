/** Interprets the error codes of the file system for the stores. */

/** Returns whether the file, or a directory in its path, does not exist. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/**
 * Returns the code of a system error. Checks the shape instead of the class, because system errors come from
 * another realm under jest.
 */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
