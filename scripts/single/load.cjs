/**
 * Loads the files of the bundle in a single executable, from its archive (archive.mjs): `(require) => (name) =>
 * exports`. An expression for `eval` in each thread, because threads cannot share it.
 *
 * Compiled code of `NAME` is also in the archive, as `NAME.cache`. V8 refuses it if its flags differ; then the
 * file is compiled.
 */
requireOfNode => {
  const { closeSync, fstatSync, openSync, readSync, writeFileSync } = requireOfNode('node:fs');
  const { Script } = requireOfNode('node:vm');
  /** The file that runs, even if another one has taken its place. */
  const PROGRAM = '/proc/self/exe';
  const LENGTH_BYTES = 4;
  const loaded = new Map();
  /** Scripts whose compiled code was not written yet. */
  const unsaved = new Map();

  const read = (handle, offset, length) => {
    const bytes = Buffer.allocUnsafeSlow(length);
    readSync(handle, bytes, 0, length, offset);
    return bytes;
  };
  /** Contents of files; undefined for files that are not there. */
  const readFiles = names => {
    const handle = openSync(PROGRAM, 'r');
    try {
      const end = fstatSync(handle).size - LENGTH_BYTES;
      const length = read(handle, end, LENGTH_BYTES).readUInt32LE(0);
      const index = JSON.parse(read(handle, end - length, length).latin1Slice());
      return names.map(name => index[name] && read(handle, ...index[name]));
    } finally {
      closeSync(handle);
    }
  };
  const load = id => {
    if (!id.startsWith('./')) return requireOfNode(id);
    const name = id.slice(2).replace(/cjs$/, 'js');
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const [source, cachedData] = readFiles([name, `${name}.cache`]);
    const text = `(function (exports, require, module, __filename) {${source.latin1Slice()}\n})`;
    const script = new Script(text, { filename: name, cachedData });
    unsaved.set(name, script);
    script.runInThisContext()(module.exports, load, module, process.execPath);
    return module.exports;
  };
  // Build mode: writes the code that was compiled until the program saves it, or until the process ends.
  const { LOGBOOM_WRITE_CACHE: folder } = process.env;
  if (folder) {
    const save = () => {
      for (const [name, script] of unsaved)
        writeFileSync(`${folder}/${name}.cache`, script.createCachedData());
      unsaved.clear();
    };
    globalThis[Symbol.for('logboom.saveCompiledCode')] = save;
    process.once('exit', save);
  }
  return load;
};
