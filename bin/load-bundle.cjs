/**
 * Loads the files of the bundle with their compiled code, in each thread. `NAME.cjs` of the bundle is one line
 * that calls `loadBeside`, and `NAME.js` is its code.
 *
 * The compile cache of Node.js has only the functions that ran while a file was loaded. V8 would parse each
 * other function when it first runs: 2,100 of them at each start of the store, a quarter of its CPU time. This
 * cache has the functions that were compiled when the program saves it (local/compiled-code.ts), or at its
 * exit. It is in a folder of Node's compile cache, and is used only if that is on. Commands that talk to a store have a cache each
 * (bin/logboom.cjs), because each runs other functions of the same file.
 *
 * Pitfall: V8 compares only the length of a source with that of its compiled code, so the names of the files
 * have a checksum of the source.
 */
const { readFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');

const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
const FOLDER =
  NODE_COMPILE_CACHE && !NODE_DISABLE_COMPILE_CACHE ? join(NODE_COMPILE_CACHE, 'code') : undefined;

/** Command whose code the main thread runs; empty for commands that share a cache, and in other threads. */
const COMMAND = globalThis[Symbol.for('logboom.command')] ?? '';

/** Scripts without a usable cache, by the paths of their caches. */
const unsaved = new Map();

/**
 * Loads the compiled code next to a module `NAME.cjs` as that of the module. `checksum` is that of the code.
 */
exports.loadBeside = (module, requireOfModule, checksum) => {
  const file = `${module.filename.slice(0, -'.cjs'.length)}.js`;
  const name = `${basename(file)}${COMMAND}-${versionOfNode()}-${checksum}`;
  const cache = FOLDER && join(FOLDER, name);
  const text = `(function (exports, require, module, __filename) {${readFileSync(file, 'latin1')}\n})`;
  const script = new Script(text, { filename: file, cachedData: cache && readIfThere(cache) });
  if (cache !== undefined && script.cachedDataRejected !== false) unsaved.set(cache, script);
  script.runInThisContext()(module.exports, requireOfModule, module, module.filename);
};

globalThis[Symbol.for('logboom.saveCompiledCode')] = save;
process.once('exit', save);

/** Version of V8 with its flags and the features of the processor. */
function versionOfNode() {
  return cachedDataVersionTag().toString(16);
}

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Saves the code that was compiled so far. The program also runs without a cache. */
function save() {
  if (unsaved.size === 0) return;
  const { mkdirSync, renameSync, writeFileSync } = require('node:fs');
  const { threadId } = require('node:worker_threads');
  for (const [cache, script] of unsaved) {
    unsaved.delete(cache);
    const partial = `${cache}.${process.pid}-${threadId}`;
    try {
      mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
      // Flushed to the disk, because V8 does not notice damage.
      writeFileSync(partial, script.createCachedData(), { mode: 0o600, flush: true });
      renameSync(partial, cache);
      removeOlder(cache);
    } catch {
      // A full disk, or a folder of another user.
    }
  }
}

/** Removes the compiled code of other versions of a file. */
function removeOlder(cache) {
  const { readdirSync, rmSync } = require('node:fs');
  const kept = basename(cache);
  const same = kept.slice(0, kept.lastIndexOf('-') + 1);
  for (const name of readdirSync(FOLDER))
    if (name.startsWith(same) && name !== kept && !name.includes('.', same.length))
      rmSync(join(FOLDER, name), { force: true });
}
