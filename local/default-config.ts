/** Reads the configuration of a store, or the built-in one if the store starts without a configuration. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT, readPackageFile } from './package-files.ts';

const NAME = 'config/local.yaml';

/** Path of the file; a display name in a single executable, which embeds it. */
export const DEFAULT_CONFIG_FILE = PACKAGE_ROOT === undefined ? `built-in ${NAME}` : join(PACKAGE_ROOT, NAME);

/** Throws a file system error. */
export function readLocalConfigText(file: string): string {
  if (file !== DEFAULT_CONFIG_FILE) return readFileSync(file, 'utf8');
  const bytes = readPackageFile(NAME);
  if (bytes === undefined) throw new Error(`${file} is missing; reinstall the program`);
  return Buffer.from(bytes).toString('utf8');
}
