/**
 * Node.js versions that can run the program: they have what it needs of node:sqlite, node:zlib and
 * process.execve.
 */

/** First sufficient minor release of each major version. No release of Node.js 23 is sufficient. */
const FIRST_MINORS = new Map([
  [22, 16],
  [23, Number.POSITIVE_INFINITY],
]);
const FIRST_MAJOR = 22;

export const NEEDED_NODE = '22.16, 24 or newer';

export function isNewEnough(version) {
  const [major, minor] = partsOf(version);
  return major >= FIRST_MAJOR && minor >= (FIRST_MINORS.get(major) ?? 0);
}

/** True if `version` is newer than `than` and of the same major. */
export function isLaterRelease(version, than) {
  const [a, b] = [partsOf(version), partsOf(than)];
  return a[0] === b[0] && (a[1] - b[1] || a[2] - b[2]) > 0;
}

function partsOf(version) {
  return version
    .replace(/^v/, '')
    .split('.')
    .map(part => Number.parseInt(part, 10));
}
