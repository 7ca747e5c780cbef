/** What the codes of the file system's errors mean to the stores. */

/** The file, or a directory on the way to it, is not there. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

/** The code of a system error. Its shape decides: under jest errors of the system are of another realm. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
