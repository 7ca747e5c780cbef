/**
 * Bundles a function: one module with the store and the SDK in it, which loads faster than many and is what was tested.
 * Names are kept, because errors and stack traces show them; the source map lies apart, for whoever reads a trace.
 */

import { mkdir, writeFile } from 'node:fs/promises';
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

/** The same bytes wherever the repository lies, so that a deployment without changes changes nothing. */
export async function bundleFunction(
  name: AnyFunctionName | StackFunctionName,
  into: string,
): Promise<Bundle> {
  const folder = join(into, name);
  const module = join(folder, 'index.mjs');
  const sourceMap = join(into, `${name}.mjs.map`);
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`functions/${name}.ts`],
    outfile: module,
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
    write: false,
    logLevel: 'warning',
  });
  await mkdir(folder, { recursive: true });
  for (const { path, contents } of outputFiles)
    await writeFile(path === module ? module : sourceMap, contents);
  return { folder, sourceMap };
}
