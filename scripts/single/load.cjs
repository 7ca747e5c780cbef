/**
 * How a single executable loads the files of the bundle, which it holds as assets: `(require) => (name) => exports`. An expression, run by
 * `eval` in the main thread and in each other, so that no two of them have to share it.
 *
 * Compiled code of an asset is an asset too (`NAME.cache`). V8 refuses it where its flags are others; then the asset is compiled.
 */
requireOfNode => {
  const { getAsset, getRawAsset } = requireOfNode('node:sea');
  const { Script } = requireOfNode('node:vm');
  const loaded = new Map();
  const cacheOf = name => {
    try {
      return Buffer.from(getRawAsset(`${name}.cache`));
    } catch {
      return undefined;
    }
  };
  const load = id => {
    if (!id.startsWith('./')) return requireOfNode(id);
    const name = id.slice(2);
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const text = `(function (exports, require, module, __filename) {${getAsset(name, 'utf8')}\n})`;
    const script = new Script(text, { filename: name, cachedData: cacheOf(name) });
    // For the build: what was compiled until the process ends.
    const { LOGBOOM_WRITE_CACHE: folder } = process.env;
    if (folder) {
      const { writeFileSync } = requireOfNode('node:fs');
      process.once('exit', () => writeFileSync(`${folder}/${name}.cache`, script.createCachedData()));
    }
    script.runInThisContext()(module.exports, load, module, process.execPath);
    return module.exports;
  };
  return load;
};
