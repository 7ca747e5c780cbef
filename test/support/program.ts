/** The program that tests and benchmarks start as a separate process: a bundle, as `npm start` runs it. */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../..');

/**
 * The program that global-setup.mjs bundled before the tests of jest; otherwise the launcher, which bundles it
 * if a source has changed.
 */
export const PROGRAM = process.env.TEST_PROGRAM ?? join(ROOT, 'bin', 'logboom.cjs');
/** Folder for compiled code. Only a process that ends by itself writes to it. */
export const CACHE = join(ROOT, 'node_modules', '.cache', 'logboom');

/** Replaces local/threads/thread-entry.ts in tests (jest.config.mjs), so that threads run the bundle. */
export function threadEntry(name: string): URL {
  return pathToFileURL(join(dirname(PROGRAM), `${name}.cjs`));
}
