/**
 * Loads the files of the bundle in a single executable, which contains them as assets: `(require) => (name)
 * => exports`. An expression for `eval` in each thread, because threads cannot share it.
 *
 * Compiled code of an asset is also an asset (`NAME.cache`). V8 refuses it if its flags differ; then the
 * asset is compiled.
 */
requireOfNode => {
  const { getAsset, getRawAsset } = requireOfNode('node:sea');
  const { Script } = requireOfNode('node:vm');
  const loaded = new Map();
  /** Scripts whose compiled code was not written yet. */
  const unsaved = new Map();
  const cacheOf = name => {
    try {
      return Buffer.from(getRawAsset(`${name}.cache`));
    } catch {
      return undefined;
    }
  };
  const load = id => {
    if (!id.startsWith('./')) return requireOfNode(id);
    const name = id.slice(2).replace(/cjs$/, 'js');
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const text = `(function (exports, require, module, __filename) {${getAsset(name, 'utf8')}\n})`;
    const script = new Script(text, { filename: name, cachedData: cacheOf(name) });
    unsaved.set(name, script);
    script.runInThisContext()(module.exports, load, module, process.execPath);
    return module.exports;
  };
  // Build mode: writes the code that was compiled until the program saves it, or until the process ends.
  const { LOGBOOM_WRITE_CACHE: folder } = process.env;
  if (folder) {
    const { writeFileSync } = requireOfNode('node:fs');
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
