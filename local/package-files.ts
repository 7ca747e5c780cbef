/**
 * Files that ship with the program: next to its modules in a checkout or package, and embedded in a single
 * executable.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** Folder with the program's package.json; `undefined` in a single executable. */
export const PACKAGE_ROOT: string | undefined = isSea() ? undefined : findRoot(import.meta.url);

/**
 * @param path path below the package with `/`, for example `config/local.yaml`. Returns `undefined` if the file is missing.
 */
export function readPackageFile(path: string): Uint8Array | undefined {
  if (PACKAGE_ROOT === undefined) return readAsset(path);
  const file = join(PACKAGE_ROOT, path);
  return existsSync(file) ? readFileSync(file) : undefined;
}

function readAsset(path: string): Uint8Array | undefined {
  try {
    // View of the executable in memory.
    return new Uint8Array(getRawAsset(path) as ArrayBuffer);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND')
      return undefined;
    throw error;
  }
}

/** Closest parent folder that is a package. */
function findRoot(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`no package.json above ${moduleUrl}; reinstall the program`);
    folder = above;
  }
  return folder;
}
