/**
 * Runs a checkout from a bundle of its sources (bin/bundle-server.mjs), and rebuilds the bundle if a
 * source changed. The bundle starts in a third of the time and with a third of the memory, because no thread
 * loads the part of Node.js that strips types.
 *
 * Each bundle has a separate folder, because a running process loads parts of it later. The folder is deleted
 * if a newer bundle exists and no process runs from it. Plain JavaScript for Node.js 20 and newer.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { freshBundle, RECORD, stampOf } from './fresh-bundle.cjs';
import { isRunning, ROOT, say } from './installed.mjs';

const CACHE = dirname(RECORD);
const PREFIX = 'bundle-';
const USER = /^user-(\d+)$/;
const SETTLE_MS = 60_000;
/** Files other than the sources whose changes require a new bundle. */
const ALWAYS = ['package-lock.json', 'bin/bundle-server.mjs'];

/**
 * Path of the program's entry file. `stays`: the process loads from the folder for as long as it runs. Falls
 * back to the sources and prints the reason.
 */
export async function programOfCheckout({ stays }) {
  try {
    const folder = freshBundle() ?? (await bundle());
    if (stays) writeFileSync(join(folder, `user-${process.pid}`), '');
    return join(folder, 'logboom.cjs');
  } catch (error) {
    say(`bundling failed; running from the sources instead: ${error.message}`);
    return join(ROOT, 'bin', 'logboom.ts');
  }
}

async function bundle() {
  const { bundleServer } = await import('./bundle-server.mjs');
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, PREFIX));
  try {
    const sources = (await bundleServer(folder)).filter(path => !path.includes('node_modules/'));
    const stamps = Object.fromEntries([...ALWAYS, ...sources].map(path => [path, stampOf(path)]));
    const partial = `${folder}.json`;
    writeFileSync(partial, JSON.stringify({ folder, stamps }));
    renameSync(partial, RECORD);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  removeOthers(folder);
  return folder;
}

function removeOthers(newest) {
  for (const name of readdirSync(CACHE)) {
    const folder = join(CACHE, name);
    if (!name.startsWith(PREFIX) || name === basename(newest) || name.endsWith('.json')) continue;
    const isUsed = readdirSync(folder).some(file => isRunning(Number(USER.exec(file)?.[1])));
    // Another process may be about to register its use of the folder, or to write it.
    const isNew = Date.now() - statSync(folder).mtimeMs < SETTLE_MS;
    if (!isUsed && !isNew) rmSync(folder, { recursive: true, force: true });
  }
}
