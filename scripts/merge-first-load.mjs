/**
 * Merges the scripts of a page's first load into one file. A bundler that splits code puts each set of modules
 * that several files share into a separate file: the first load of the explorer was 34 files, and most of
 * the time until its first paint was spent on requests.
 *
 *     outputs of esbuild:  main -> a, b    later -> a, c    another -> b, c
 *     here:                main (with a and b)    later -> main, c    another -> main, c
 *
 * Later files import what they need of `a` and `b` from the merged file. Each file changes with the name of
 * the merged one, so all get the same hash, that of all outputs.
 */
import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';

/** Namespaces of esbuild: outputs of the first pass, and files that import from the merged one. */
const OUTPUT = 'output';
const MERGED = 'merged';

/**
 * @param bundle esbuild's `build`
 * @param files contents of all outputs by name
 * @param exportsOf names that an output exports
 * @param first names of the scripts of the first load, the entry first
 * @returns contents by name, and the name of the merged script
 */
export async function mergeFirstLoad({ bundle, files, exportsOf, first }) {
  const hash = createHash('sha256');
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(name).update(bytes);
  const suffix = hash.digest('hex').slice(0, 8).toUpperCase();
  const isFirst = new Set(first);
  const renamed = name =>
    `${basename(name, extname(name)).replace(/-[A-Z0-9]{8}$/, '')}-${suffixOf(name)}.js`;
  /** Shared files have no other name than their hash. */
  const suffixOf = name => (name.startsWith('chunk-') ? `${name.slice(6, 14)}-${suffix}` : suffix);
  const merged = renamed(first[0]);
  const aliasOf = (name, exported) => `f${first.indexOf(name)}_${exported}`;

  const plugin = {
    name: 'merge-first-load',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
        const name = basename(path);
        if (kind === 'entry-point') return { path: name, namespace: OUTPUT };
        if (kind === 'dynamic-import') return { path: `./${renamed(name)}`, external: true };
        if (path === `./${merged}`) return { path, external: true };
        if (!isFirst.has(name)) return { path: `./${renamed(name)}`, external: true };
        return {
          path: name,
          namespace: isFirst.has(basename(importer)) || importer === merged ? OUTPUT : MERGED,
        };
      });
      build.onLoad({ filter: /.*/, namespace: OUTPUT }, ({ path }) => ({
        contents: path === merged ? entry() : files.get(path),
        loader: 'js',
      }));
      build.onLoad({ filter: /.*/, namespace: MERGED }, ({ path }) => {
        const names = exportsOf(path).map(exported => `${aliasOf(path, exported)} as ${exported}`);
        return { contents: `export { ${names.join(', ')} } from './${merged}';`, loader: 'js' };
      });
    },
  };
  /** Later files come after the entry, so that modules run in the order of the first pass. */
  const entry = () =>
    [
      `import './${first[0]}';`,
      ...first.map(name => {
        const names = exportsOf(name).map(exported => `${exported} as ${aliasOf(name, exported)}`);
        return names.length === 0 ? '' : `export { ${names.join(', ')} } from './${name}';`;
      }),
    ].join('\n');

  const scripts = [...files.keys()].filter(name => extname(name) === '.js' && !isFirst.has(name));
  const results = await Promise.all(
    [merged, ...scripts].map(async name => {
      const { outputFiles } = await bundle({
        entryPoints: [name],
        bundle: true,
        format: 'esm',
        platform: 'browser',
        target: 'es2022',
        minify: true,
        legalComments: 'none',
        write: false,
        logLevel: 'warning',
        plugins: [plugin],
      });
      return [name === merged ? merged : renamed(name), outputFiles[0].contents];
    }),
  );
  const others = [...files].filter(([name]) => extname(name) !== '.js');
  return { files: new Map([...results, ...others]), merged };
}
