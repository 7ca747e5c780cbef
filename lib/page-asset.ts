/**
 * Explorer page for the stack: built from its sources, and placed next to the function that copies it to the
 * bucket, or into the program of the write service.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PageAsset } from './edge.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILD_SCRIPT = join(ROOT, 'scripts', 'build-ui.mjs');
const BUILT = join(ROOT, 'dist', 'ui');
const MANIFEST_NAME = 'manifest.json';
const MANIFEST = join(BUILT, MANIFEST_NAME);

/**
 * Builds the page and puts its files below `page` in the bundle's folder. Undefined if there is neither a
 * page nor a build script. Throws if the script fails.
 */
export function addPage(code: string): PageAsset | undefined {
  const hash = copyPage(join(code, 'page'));
  return hash === undefined ? undefined : { code, hash };
}

/** Adds the page to the program of the write service, which serves it like `logboom start` does. */
export function addPageToProgram(program: string): void {
  const folder = join(program, 'dist', 'ui');
  if (copyPage(folder) !== undefined) copyFileSync(MANIFEST, join(folder, MANIFEST_NAME));
}

/** Builds the page and copies its files. Returns the hash of all files. */
function copyPage(folder: string): string | undefined {
  if (existsSync(BUILD_SCRIPT)) {
    const { status, stderr, error } = spawnSync(process.execPath, [BUILD_SCRIPT], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the explorer cannot be built: ${error?.message ?? stderr.trim()}`);
  }
  if (!existsSync(MANIFEST)) return undefined;
  const { files } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as {
    files: readonly { readonly name: string }[];
  };
  mkdirSync(folder, { recursive: true });
  const hash = createHash('sha256');
  for (const { name } of files) {
    hash.update(`${name}\0`).update(readFileSync(join(BUILT, name)));
    copyFileSync(join(BUILT, name), join(folder, name));
  }
  return hash.digest('hex');
}
