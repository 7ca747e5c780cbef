/**
 * Files that come with the program: beside its modules in a checkout and in a package, whether these are sources or a bundle, and
 * inside it where it is a single executable.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** The folder with package.json of the program; undefined in a single executable. */
export const PACKAGE_ROOT: string | undefined = isSea() ? undefined : findRoot(import.meta.url);

/** @param path below the package, with `/`, for example `config/local.yaml`. Undefined if there is no such file. */
export function readPackageFile(path: string): Uint8Array | undefined {
  if (PACKAGE_ROOT === undefined) return readAsset(path);
  const file = join(PACKAGE_ROOT, path);
  return existsSync(file) ? readFileSync(file) : undefined;
}

function readAsset(path: string): Uint8Array | undefined {
  try {
    // A view of the executable in memory.
    return new Uint8Array(getRawAsset(path) as ArrayBuffer);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND')
      return undefined;
    throw error;
  }
}

/** The next folder upwards that is a package. */
function findRoot(moduleUrl: string): string {
  let folder = dirname(fileURLToPath(moduleUrl));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`${moduleUrl} is not in a package`);
    folder = above;
  }
  return folder;
}
