/** The program as bundled by global-setup.mjs. */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const PROGRAM = process.env.TEST_PROGRAM!;
/** Folder for compiled code. Only a process that ends by itself writes to it. */
export const CACHE = join(import.meta.dirname, '../../node_modules/.cache/logboom');

/** Replaces local/threads/thread-entry.ts in tests (jest.config.mjs), so that threads run the bundle. */
export function threadEntry(name: string): URL {
  return pathToFileURL(join(dirname(PROGRAM), `${name}.cjs`));
}
