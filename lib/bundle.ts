/**
 * Bundles each function into one module with the store and the SDK, which loads faster than many modules and
 * is what tests run. Some packages are separate files (packages-apart.ts). The source map is a separate file for people.
 *
 * Modules are CommonJS: loading one of 2.3 MB took 40 ms less CPU than as an ES module.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import type { AnyFunctionName, StackFunctionName } from '../functions/groups.ts';
import { PACKAGES_APART_PLUGIN, packageEntries } from './packages-apart.ts';

export interface Bundle {
  /** Contains index.js, and only the package files that it may load. */
  readonly folder: string;
  readonly sourceMap: string;
}

/** Handler for Lambda: the export `handler` of index.js. */
export const HANDLER = 'index.handler';
export const MODULE = 'index.js';

/** Replacement for `import.meta`, which CommonJS lacks. */
const MODULE_URL = 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Bundles all functions in one run, which reads shared modules once. Results are in name order. Throws if a
 * bundle would need anything except Node.js modules and the packages. The output does not depend on the
 * repository's path, so that a deployment without changes changes nothing.
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
    // `import('node:http')` reads every export of the module, and one of them loads undici, 50 ms. `require`
    // does not.
    supported: { 'dynamic-import': false },
    // Packages that also ship ES modules can be tree-shaken.
    mainFields: ['module', 'main'],
    plugins: [PACKAGES_APART_PLUGIN],
    minifySyntax: true,
    minifyWhitespace: true,
    // Names stay as they are, for errors and stack traces. Shorter ones with `keepNames` are a third fewer
    // bytes, but a start sets each name of thousands of functions, which takes 20 ms.
    minifyIdentifiers: false,
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

/**
 * Files of packages that a module may load, transitively. Throws if anything else is missing in the bundle.
 */
function filesNeeded({ outputs }: Metafile, into: string): (module: string) => ReadonlySet<string> {
  const importsOf = new Map<string, string[]>();
  for (const [output, { imports }] of Object.entries(outputs)) {
    const external = imports.filter(one => one.external && !isBuiltin(one.path)).map(({ path }) => path);
    importsOf.set(relative(into, resolve(ROOT, output)), external);
  }
  const needed = (module: string, found: Set<string>): Set<string> => {
    for (const path of importsOf.get(module) ?? []) {
      const file = basename(path);
      if (!importsOf.has(file))
        throw new Error(`${module} imports ${path}, which its bundle does not contain`);
      if (found.has(file)) continue;
      found.add(file);
      needed(file, found);
    }
    return found;
  };
  return module => needed(module, new Set());
}
