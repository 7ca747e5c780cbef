/** Finds the newest bundle of a checkout (bin/checkout.mjs) if it was built from the sources as they are. */
const { existsSync, readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { ROOT } = require('./folders.cjs');

/** Record of the newest bundle: its folder, and the sources that it was built from. */
exports.RECORD = join(ROOT, 'node_modules', '.cache', 'logboom', 'bundle.json');

/** Folder of the bundle; undefined if a source changed. It was built with the packages of the same lock file. */
exports.freshBundle = () => {
  const record = readRecord();
  if (record === undefined || !existsSync(join(record.folder, 'logboom.cjs'))) return undefined;
  const isSame = Object.entries(record.stamps).every(([path, stamp]) => exports.stampOf(path) === stamp);
  return isSame ? record.folder : undefined;
};

/** Changes whenever the file changes. */
exports.stampOf = path => {
  const stat = statSync(ROOT + path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.mtimeMs} ${stat.size}`;
};

function readRecord() {
  try {
    return JSON.parse(readFileSync(exports.RECORD, 'utf8'));
  } catch {
    return undefined;
  }
}
