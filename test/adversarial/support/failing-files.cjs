/**
 * Preloaded into the process of a store and into its threads. Calls to the file system and to SQLite fail with EIO
 * while the file that LOGBOOM_TEST_FAILING names contains their kind: `reads`, `heads`, `lists`, `deletes`,
 * `writes` or `syncs` for objects, `catalog reads`, `catalog writes` or `catalog syncs`.
 */
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { StatementSync } = require('node:sqlite');

const { LOGBOOM_TEST_FAILING: kindFile, LOGBOOM_TEST_FOLDER: folder } = process.env;
const { readFileSync, openSync, closeSync, readSync, writevSync, ...callbacks } = fs;
const { open, stat, opendir, unlink } = fs.promises;
/** Descriptors of open files in the folder of which calls fail. */
const descriptors = new Set();

const isOfFolder = file => typeof file === 'string' && file.startsWith(folder);

function failIf(kind) {
  if (readFileSync(kindFile, 'utf8') !== kind) return;
  throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', errno: -5, syscall: kind });
}

fs.openSync = (file, ...more) => {
  const descriptor = openSync(file, ...more);
  if (isOfFolder(file)) descriptors.add(descriptor);
  return descriptor;
};
fs.closeSync = descriptor => {
  descriptors.delete(descriptor);
  closeSync(descriptor);
};
fs.readSync = (descriptor, ...more) => {
  if (descriptors.has(descriptor)) failIf('reads');
  return readSync(descriptor, ...more);
};
fs.writevSync = (descriptor, ...more) => {
  if (descriptors.has(descriptor)) failIf('writes');
  return writevSync(descriptor, ...more);
};
fs.open = (file, ...more) => {
  const opened = more.pop();
  callbacks.open(file, ...more, (error, descriptor) => {
    if (error === null && isOfFolder(file)) descriptors.add(descriptor);
    opened(error, descriptor);
  });
};
for (const [name, kind] of [
  ['read', 'reads'],
  ['writev', 'writes'],
  ['fsync', 'syncs'],
]) {
  const original = callbacks[name];
  fs[name] = (descriptor, ...more) => {
    try {
      if (descriptors.has(descriptor)) failIf(kind);
    } catch (error) {
      process.nextTick(more.at(-1), error);
      return;
    }
    original(descriptor, ...more);
  };
  // How `promisify` names the results.
  for (const symbol of Object.getOwnPropertySymbols(original)) fs[name][symbol] = original[symbol];
}
fs.promises.open = async (file, ...more) => {
  const handle = await open(file, ...more);
  if (!isOfFolder(file)) return handle;
  const { write, writev, sync } = handle;
  handle.write = async (...given) => {
    failIf('writes');
    return write.apply(handle, given);
  };
  handle.writev = async (...given) => {
    failIf('writes');
    return writev.apply(handle, given);
  };
  handle.sync = async () => {
    failIf('syncs');
    return sync.call(handle);
  };
  return handle;
};
for (const [name, kind, original] of [
  ['stat', 'heads', stat],
  ['opendir', 'lists', opendir],
  ['unlink', 'deletes', unlink],
]) {
  fs.promises[name] = async (file, ...more) => {
    if (isOfFolder(file)) failIf(kind);
    return original(file, ...more);
  };
}
syncBuiltinESMExports();

/** SQLite reports EIO as SQLITE_IOERR. */
function failCatalogIf(kind) {
  if (readFileSync(kindFile, 'utf8') !== kind) return;
  throw Object.assign(new Error('disk I/O error'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: 10,
    errstr: 'disk I/O error',
  });
}
const KINDS = [
  [/^SELECT/, 'catalog reads'],
  [/^(INSERT|REPLACE|DELETE|UPDATE)/, 'catalog writes'],
  [/^COMMIT/, 'catalog syncs'],
];
for (const method of ['get', 'all', 'iterate', 'run']) {
  const original = StatementSync.prototype[method];
  StatementSync.prototype[method] = function (...given) {
    const [, kind] = KINDS.find(([sql]) => sql.test(this.sourceSQL.trim())) ?? [];
    failCatalogIf(kind);
    return original.apply(this, given);
  };
}
