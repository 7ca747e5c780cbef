/**
 * What a checkout runs: a bundle of its sources (scripts/bundle-server.mjs), made again when one of them changed. It starts in a third
 * of the time, and with a third of the memory: neither the main thread nor another loads the part of Node that strips types.
 *
 * A bundle lies in a folder of its own, because a process that runs loads from it later. It is removed when a newer one was made and no
 * process runs from it. Plain JavaScript for any Node from 20.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { isRunning, ROOT, say } from './installed.mjs';

const CACHE = join(ROOT, 'node_modules', '.cache', 'logboom');
/** The folder of the newest bundle, and what it was made of. */
const RECORD = join(CACHE, 'bundle.json');
const PREFIX = 'bundle-';
const USER = /^user-(\d+)$/;
const SETTLE_MS = 60_000;
/** Files that decide about the bundle beside the sources. */
const ALWAYS = ['package-lock.json', 'scripts/bundle-server.mjs'];

/** Path of the program's entry. `stays`: this process loads from it as long as it runs. Falls back to the sources, and says why. */
export async function programOfCheckout({ stays }) {
  try {
    const folder = freshFolder() ?? (await bundle());
    if (stays) writeFileSync(join(folder, `user-${process.pid}`), '');
    return join(folder, 'logboom.cjs');
  } catch (error) {
    say(`the program could not be bundled and is run from its sources: ${error.message}`);
    return join(ROOT, 'bin', 'logboom.ts');
  }
}

function freshFolder() {
  const record = readRecord();
  if (record === undefined || !existsSync(join(record.folder, 'logboom.cjs'))) return undefined;
  const isSame = Object.entries(record.stamps).every(([path, stamp]) => stampOf(path) === stamp);
  return isSame ? record.folder : undefined;
}

async function bundle() {
  const { bundleServer } = await import('../scripts/bundle-server.mjs');
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
    // Another process may be about to say that it uses it, or to write it.
    const isNew = Date.now() - statSync(folder).mtimeMs < SETTLE_MS;
    if (!isUsed && !isNew) rmSync(folder, { recursive: true, force: true });
  }
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8'));
  } catch {
    return undefined;
  }
}

function stampOf(path) {
  const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.mtimeMs} ${stat.size}`;
}
