/**
 * Node.js versions that can run the program: they have what it needs of node:sqlite, node:zlib and
 * process.execve. Commands that talk to a running store need none of these, so that an older Node.js runs them
 * itself, in half the time of a second process.
 */

/** First sufficient minor release of each major version. No release of Node.js 23 is sufficient. */
const FIRST_MINORS = new Map([
  [22, 16],
  [23, Number.POSITIVE_INFINITY],
]);
const FIRST_MAJOR = 22;

exports.NEEDED_NODE = '22.16, 24 or newer';

const FIRST_MAJOR_OF_CLIENTS = 20;

/**
 * Commands that FIRST_MAJOR_OF_CLIENTS runs. An option that needs more calls `needNewerNode` (bin/cli/newer-node.ts) before it
 * reads or writes anything.
 */
exports.CLIENT_COMMANDS = [
  'push',
  'export',
  'query',
  'instant',
  'instant-query',
  'tail',
  'labels',
  'series',
  'stats',
  'volume',
  'volume-range',
  'volume_range',
  'patterns',
  'detected-fields',
  'context',
  'delete',
  'rules',
  'completion',
  'complete-words',
];

/** True if this version runs the command line, although it may be too old for a store. */
exports.runsClient = (version, [command]) =>
  exports.CLIENT_COMMANDS.includes(command) && partsOf(version)[0] >= FIRST_MAJOR_OF_CLIENTS;

exports.isNewEnough = version => {
  const [major, minor] = partsOf(version);
  return major >= FIRST_MAJOR && minor >= (FIRST_MINORS.get(major) ?? 0);
};

/** True if `version` is newer than `than` and of the same major. */
exports.isLaterRelease = (version, than) => {
  const [a, b] = [partsOf(version), partsOf(than)];
  return a[0] === b[0] && (a[1] - b[1] || a[2] - b[2]) > 0;
};

function partsOf(version) {
  return version
    .replace(/^v/, '')
    .split('.')
    .map(part => Number.parseInt(part, 10));
}
