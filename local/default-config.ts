/** The configuration of a store, and the one that comes with the program for a store that is started without. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT, readPackageFile } from './package-files.ts';

const NAME = 'config/local.yaml';

/** In a single executable a name for what lies inside. */
export const DEFAULT_CONFIG_FILE = PACKAGE_ROOT === undefined ? `built-in ${NAME}` : join(PACKAGE_ROOT, NAME);

/** Throws an error of the file system. */
export function readConfigText(file: string): string {
  if (file !== DEFAULT_CONFIG_FILE) return readFileSync(file, 'utf8');
  const bytes = readPackageFile(NAME);
  if (bytes === undefined) throw new Error(`${file} is missing: install the program again`);
  return Buffer.from(bytes).toString('utf8');
}
