/**
 * Bundles each function into one module with the store, which loads faster than many modules and is what
 * tests run. Parts that most calls do not need (parts-apart.ts) and some packages (packages-apart.ts) are separate
 * files. The source map is a separate file for people.
 *
 * Modules are CommonJS: loading one of 2.3 MB took 40 ms less CPU than as an ES module.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type TransformOptions, transform } from 'esbuild';
import {
  type AnyFunctionName,
  EVENT_FUNCTION_NAMES,
  FUNCTION_NAMES,
  type StackFunctionName,
  TAIL_FUNCTION_NAMES,
} from '../functions/groups.ts';
import { PACKAGES_APART_PLUGIN, packageEntries } from './packages-apart.ts';
import { PARTS_APART_PLUGIN, partEntries } from './parts-apart.ts';

export interface Bundle {
  /** Contains index.js, and only the files that it may load. */
  readonly folder: string;
  readonly sourceMaps: readonly string[];
}

/** Handler for Lambda: the export `handler` of index.js. */
export const HANDLER = 'index.handler';
export const MODULE = 'index.js';

/** Replacement for `import.meta`, which CommonJS lacks. */
const MODULE_URL = 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Options of all builds. */
const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node' as const,
  target: 'node24',
  // Packages that also ship ES modules can be tree-shaken.
  mainFields: ['module', 'main'],
  minifySyntax: true,
  minifyWhitespace: true,
  // Names stay as they are, for errors and stack traces. Shorter ones with `keepNames` are a third fewer
  // bytes, but a start sets each name of thousands of functions, which takes 20 ms.
  minifyIdentifiers: false,
  define: { 'import.meta.url': 'moduleUrl' },
  logOverride: { 'empty-import-meta': 'error' },
  legalComments: 'none',
  sourcesContent: false,
  metafile: true as const,
  write: false as const,
  logLevel: 'warning',
} satisfies BuildOptions;

/** Options of CommonJS output. */
const AS_COMMON_JS = {
  format: 'cjs' as const,
  // `import('node:http')` reads every export of the module, and one of them loads undici, 50 ms. `require`
  // does not.
  supported: { 'dynamic-import': false },
} satisfies TransformOptions;

/** Functions that share one start of all services: each needs only some (parts-apart.ts). */
const WITH_PARTS: ReadonlySet<string> = new Set<AnyFunctionName | StackFunctionName>([
  ...FUNCTION_NAMES,
  ...EVENT_FUNCTION_NAMES,
  ...TAIL_FUNCTION_NAMES,
  'all-in-one',
]);

/** Output files by path, with the files that each loads. */
interface Outputs {
  readonly contentOf: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
}

/**
 * Bundles the functions. Results are in name order. Throws if a bundle would need anything except Node.js modules, its
 * parts and the packages. The output does not depend on the repository's path, so that a deployment without changes
 * changes nothing.
 */
export async function bundleFunctions(
  names: readonly (AnyFunctionName | StackFunctionName)[],
  into: string,
): Promise<Bundle[]> {
  const whole = names.filter(name => !WITH_PARTS.has(name));
  const [common, ...divided] = await Promise.all([
    bundleWhole(whole, into),
    ...names.filter(name => WITH_PARTS.has(name)).map(name => bundleWithParts(name, into)),
  ]);
  const all = [common, ...divided];
  const contentOf = new Map(all.flatMap(outputs => [...outputs.contentOf]));
  const neededBy = filesNeeded(
    all.map(({ metafile }) => metafile),
    into,
  );
  return Promise.all(
    names.map(async name => {
      const folder = join(into, name);
      const sourceMaps: string[] = [];
      await mkdir(folder, { recursive: true });
      for (const [file, path] of neededBy(`${name}/${MODULE}`)) {
        await writeFile(join(folder, file), contentOf.get(join(into, path)) ?? '');
        // Packages have no other ones.
        if (dirname(path) !== name) continue;
        const sourceMap = join(into, file === MODULE ? `${name}.js.map` : `${name}.${file}.map`);
        await writeFile(sourceMap, contentOf.get(`${join(into, path)}.map`) ?? '');
        sourceMaps.push(sourceMap);
      }
      return { folder, sourceMaps };
    }),
  );
}

/** Bundles packages, and functions that are one file each, in one run, which reads shared modules once. */
async function bundleWhole(names: readonly string[], into: string): Promise<Outputs> {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    ...AS_COMMON_JS,
    banner: { js: MODULE_URL },
    entryPoints: [
      ...names.map(name => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
      ...packageEntries(),
    ],
    outdir: into,
    plugins: [PACKAGES_APART_PLUGIN],
    sourcemap: 'external',
  });
  return { contentOf: new Map(outputFiles.map(({ path, contents }) => [path, contents])), metafile };
}

/** Only ES modules can share files, so they are converted afterwards. */
async function bundleWithParts(name: string, into: string): Promise<Outputs> {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    format: 'esm',
    splitting: true,
    entryPoints: [{ in: `functions/${name}.ts`, out: 'index' }, ...partEntries()],
    outdir: join(into, name),
    chunkNames: 'shared-[hash]',
    plugins: [PACKAGES_APART_PLUGIN, PARTS_APART_PLUGIN],
    sourcemap: 'inline',
  });
  const contentOf = new Map<string, Uint8Array>();
  const encoder = new TextEncoder();
  for (const { path, text } of outputFiles) {
    const { code, map } = await transform(text, {
      ...AS_COMMON_JS,
      banner: MODULE_URL,
      platform: COMMON.platform,
      target: COMMON.target,
      minifySyntax: true,
      minifyWhitespace: true,
      sourcemap: 'external',
      sourcesContent: false,
    });
    contentOf.set(path, encoder.encode(code));
    contentOf.set(`${path}.map`, encoder.encode(map));
  }
  return { contentOf, metafile };
}

/**
 * Files that a module may load, transitively and with itself: name in the folder of a function, and path of the output.
 * Throws if anything else is missing in the bundle.
 */
function filesNeeded(
  metafiles: readonly Metafile[],
  into: string,
): (module: string) => ReadonlyMap<string, string> {
  const importsOf = new Map<string, string[]>();
  for (const [output, { imports }] of metafiles.flatMap(({ outputs }) => Object.entries(outputs))) {
    const path = relative(into, resolve(ROOT, output));
    // Files of the same build are named from the working directory, others as they are imported.
    const own = imports.filter(one => !one.external).map(one => relative(into, resolve(ROOT, one.path)));
    const others = imports.filter(one => one.external && !isBuiltin(one.path));
    importsOf.set(path, [...own, ...others.map(one => join(dirname(path), one.path))]);
  }
  return module => {
    const found = new Map<string, string>();
    const need = (path: string): void => {
      const file = basename(path);
      // Parts are next to the module. Packages are built once for all functions.
      const output = importsOf.has(path) ? path : file;
      if (!importsOf.has(output))
        throw new Error(`${module} imports ${path}, which its bundle does not contain`);
      if (found.has(file)) return;
      found.set(file, output);
      for (const next of importsOf.get(output) ?? []) need(next);
    };
    need(module);
    return found;
  };
}
