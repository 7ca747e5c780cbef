/**
 * Bundles functions, each as one module with the store and the SDK in it, which loads faster than many and is what was tested.
 * Names are kept, because errors and stack traces show them; the source map lies apart, for whoever reads a trace.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { AnyFunctionName, StackFunctionName } from '../functions/groups.ts';

export interface Bundle {
  /** Holds index.mjs and nothing else. */
  readonly folder: string;
  readonly sourceMap: string;
}

/** What Lambda calls: the export `handler` of index.mjs. */
export const HANDLER = 'index.handler';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Packages in CommonJS ask for node's own modules by `require`, which an ES module does not have. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * All in one run, which reads what they share once. In the order of the names. Throws where one would need anything beside node's
 * own modules. The same bytes wherever the repository lies, so that a deployment without changes changes nothing.
 */
export async function bundleFunctions(
  names: readonly (AnyFunctionName | StackFunctionName)[],
  into: string,
): Promise<Bundle[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: names.map(name => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir: into,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Packages that come as ES modules too lose what is not used.
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    // A third less to read at each cold start.
    minifyIdentifiers: true,
    keepNames: true,
    legalComments: 'none',
    banner: { js: REQUIRE },
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  for (const [output, { imports }] of Object.entries(metafile.outputs)) {
    for (const { path, external } of imports) {
      if (external && !isBuiltin(path)) throw new Error(`${output} asks for ${path}, which it does not hold`);
    }
  }
  const contentOf = new Map(outputFiles.map(({ path, contents }) => [path, contents]));
  return Promise.all(
    names.map(async name => {
      const folder = join(into, name);
      const module = join(folder, 'index.mjs');
      const sourceMap = join(into, `${name}.mjs.map`);
      await mkdir(folder, { recursive: true });
      await writeFile(module, contentOf.get(module) ?? '');
      await writeFile(sourceMap, contentOf.get(`${module}.map`) ?? '');
      return { folder, sourceMap };
    }),
  );
}
