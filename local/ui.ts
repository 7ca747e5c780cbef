/**
 * The files of the explorer page on one machine. A packed installation has them built; a checkout has the sources, and the
 * page is built there by a process of its own when a browser asks for it and something changed, so that nothing of it slows
 * the start, and whoever works on the page reloads it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PageFile, PageFiles } from '../shared/http/ui.ts';

const gzipAsync = promisify(gzip);

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Where the built page lies: in a checkout, beside compiled modules, beside a bundle. The first with a manifest counts. */
const FOLDERS = [join(HERE, '..', 'dist', 'ui'), join(HERE, '..', 'ui'), join(HERE, 'ui')];
const MANIFEST = 'manifest.json';
const INDEX = 'index.html';
const ROOT = join(HERE, '..');
const BUILD_SCRIPT = join(ROOT, 'scripts', 'build-ui.mjs');
const SOURCES = join(ROOT, 'ui', 'src');
/** Anybody may ask for the page; a process is not started more often than this. */
const CHECK_PERIOD_MS = 1000;

interface Manifest {
  readonly sourceHash: string;
  readonly files: readonly { readonly name: string }[];
}

export interface PageOptions {
  /** Told where the page cannot be built. */
  readonly warn: (message: string) => void;
}

export function createPageFiles({ warn }: PageOptions): PageFiles {
  const buildable = existsSync(BUILD_SCRIPT) && existsSync(SOURCES);
  let checked: Promise<void> | undefined;
  let checkedMs = Number.NEGATIVE_INFINITY;
  let sourceHash: string | undefined;
  /** Files that were asked for, each as soon as it is read; at most those of one manifest. */
  let files = new Map<string, Promise<PageFile> | undefined>();
  let folder = FOLDERS[0];

  function checkSources(): Promise<void> {
    const nowMs = performance.now();
    if (checked === undefined || nowMs - checkedMs > CHECK_PERIOD_MS) {
      checkedMs = nowMs;
      checked = buildPage().catch((error: unknown) =>
        warn(error instanceof Error ? error.message : String(error)),
      );
    }
    return checked;
  }

  async function readManifest(): Promise<void> {
    const found = FOLDERS.find(place => existsSync(join(place, MANIFEST)));
    if (found === undefined) {
      files = new Map();
      return;
    }
    const manifest = JSON.parse(await readFile(join(found, MANIFEST), 'utf8')) as Manifest;
    if (manifest.sourceHash === sourceHash && found === folder) return;
    folder = found;
    sourceHash = manifest.sourceHash;
    files = new Map(manifest.files.map(({ name }) => [name, undefined]));
  }

  return {
    async read(name) {
      if (name === INDEX) {
        if (buildable) await checkSources();
        await readManifest();
      } else if (!files.has(name)) await readManifest();
      if (!files.has(name)) return undefined;
      const known = files;
      const reading = known.get(name) ?? readPageFile(join(folder, name));
      known.set(name, reading);
      // Another build may have taken it away: the next request looks again.
      reading.catch(() => known.set(name, undefined));
      return reading;
    },
  };
}

async function readPageFile(path: string): Promise<PageFile> {
  const bytes = await readFile(path);
  const compressed = await gzipAsync(bytes, { level: 9 });
  return compressed.length < bytes.length ? { bytes, gzip: compressed } : { bytes };
}

/** Rejects with what the script said where it fails. */
function buildPage(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BUILD_SCRIPT], { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said = (said + part).slice(-2000);
    });
    child.once('error', reject);
    child.once('close', status => {
      if (status === 0) resolve();
      else reject(new Error(`the explorer page could not be built: ${said}`));
    });
  });
}
