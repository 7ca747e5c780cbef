/**
 * Bundles functions, each as one module with the store and the SDK in it, which loads faster than many and is what was tested. Some
 * packages are files next to it (packages-apart.ts). Names are kept, because errors and stack traces show them; the source map is a
 * separate file, for people who read a trace.
 *
 * The modules are CommonJS: one with 2.3 MB took 40 ms of CPU less to load than the same as an ES module.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import type { AnyFunctionName, StackFunctionName } from '../functions/groups.ts';
import { packageEntries, packagesApart } from './packages-apart.ts';

export interface Bundle {
  /** Holds index.js, the files of the packages that it may load, and nothing else. */
  readonly folder: string;
  readonly sourceMap: string;
}

/** What Lambda calls: the export `handler` of index.js. */
export const HANDLER = 'index.handler';
export const MODULE = 'index.js';

/** CommonJS has no `import.meta`. */
const MODULE_URL = 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * All in one run, which reads what they share once. In the order of the names. Throws if one would need anything except node's
 * own modules and the packages. The same bytes wherever the repository lies, so that a deployment without changes changes nothing.
 */
export async function bundleFunctions(
  names: readonly (AnyFunctionName | StackFunctionName)[],
  into: string,
): Promise<Bundle[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [
      ...names.map(name => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
      ...packageEntries(),
    ],
    outdir: into,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    // `import('node:http')` reads each export of the module, and one of them loads 50 ms of undici. `require` does not.
    supported: { 'dynamic-import': false },
    // Packages that come as ES modules too lose what is not used.
    mainFields: ['module', 'main'],
    plugins: [packagesApart],
    minifySyntax: true,
    minifyWhitespace: true,
    // A third less to read at each cold start.
    minifyIdentifiers: true,
    keepNames: true,
    banner: { js: MODULE_URL },
    define: { 'import.meta.url': 'moduleUrl' },
    logOverride: { 'empty-import-meta': 'error' },
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const contentOf = new Map(outputFiles.map(({ path, contents }) => [path, contents]));
  const neededBy = filesNeeded(metafile, into);
  return Promise.all(
    names.map(async name => {
      const folder = join(into, name);
      const sourceMap = join(into, `${name}.js.map`);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, MODULE), contentOf.get(join(folder, MODULE)) ?? '');
      await writeFile(sourceMap, contentOf.get(join(folder, `${MODULE}.map`)) ?? '');
      for (const file of neededBy(`${name}/${MODULE}`)) {
        await writeFile(join(folder, file), contentOf.get(join(into, file)) ?? '');
      }
      return { folder, sourceMap };
    }),
  );
}

/** Files of packages that a module may load, and those that they may load. Throws if something else is missing in the bundle. */
function filesNeeded({ outputs }: Metafile, into: string): (module: string) => ReadonlySet<string> {
  const importsOf = new Map<string, string[]>();
  for (const [output, { imports }] of Object.entries(outputs)) {
    const external = imports.filter(one => one.external && !isBuiltin(one.path)).map(({ path }) => path);
    importsOf.set(relative(into, resolve(ROOT, output)), external);
  }
  const needed = (module: string, found: Set<string>): Set<string> => {
    for (const path of importsOf.get(module) ?? []) {
      const file = basename(path);
      if (!importsOf.has(file)) throw new Error(`${module} needs ${path}, which it does not hold`);
      if (found.has(file)) continue;
      found.add(file);
      needed(file, found);
    }
    return found;
  };
  return module => needed(module, new Set());
}
