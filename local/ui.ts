/**
 * Files of the explorer page on one machine. A packed installation contains the built files. A checkout
 * contains the sources: when a browser requests the page and a source changed, a separate process builds it.
 * So building does not slow the start, and a developer of the page only reloads it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PageFile, PageFiles } from '../shared/server/http/ui.ts';
import { PACKAGE_ROOT, readPackageFile } from './package-files.ts';
import { buildIfChanged, pageSources } from './ui-sources.ts';

const gzipAsync = promisify(gzip);

const FOLDER = 'dist/ui';
const MANIFEST = 'manifest.json';
const INDEX = 'index.html';
const BUILD_SCRIPT = 'scripts/build-ui.mjs';
const SOURCES = 'ui/src';
/** Minimum interval between two builds, because any client can request the page. */
const CHECK_PERIOD_MS = 1000;

interface Manifest {
  readonly sourceHash: string;
  readonly files: readonly { readonly name: string }[];
}

interface ExplorerOptions {
  /** Called if the page cannot be built. */
  readonly warn: (message: string) => void;
}

export function createPageFiles({ warn }: ExplorerOptions): PageFiles {
  const root = PACKAGE_ROOT;
  const buildable = root !== undefined && [BUILD_SCRIPT, SOURCES].every(path => existsSync(join(root, path)));
  const update = buildIfChanged(
    () => pageSources(root!),
    () => buildPage(root!),
  );
  let checked: Promise<void> | undefined;
  let checkedMs = Number.NEGATIVE_INFINITY;
  let sourceHash: string | undefined;
  /** Requested files, each from the start of its read; at most those of one manifest. */
  let files = new Map<string, Promise<PageFile> | undefined>();

  function checkSources(): Promise<void> {
    const nowMs = performance.now();
    if (checked === undefined || nowMs - checkedMs > CHECK_PERIOD_MS) {
      checkedMs = nowMs;
      checked = update().catch((error: unknown) =>
        warn(error instanceof Error ? error.message : String(error)),
      );
    }
    return checked;
  }

  function readManifest(): void {
    const found = readPackageFile(`${FOLDER}/${MANIFEST}`);
    if (found === undefined) {
      files = new Map();
      return;
    }
    const manifest = JSON.parse(Buffer.from(found).toString('utf8')) as Manifest;
    if (manifest.sourceHash === sourceHash) return;
    sourceHash = manifest.sourceHash;
    files = new Map(manifest.files.map(({ name }) => [name, undefined]));
  }

  return {
    async read(name) {
      if (name === INDEX) {
        if (buildable) await checkSources();
        readManifest();
      } else if (!files.has(name)) readManifest();
      if (!files.has(name)) return undefined;
      const known = files;
      const reading = known.get(name) ?? readPageFile(`${FOLDER}/${name}`);
      known.set(name, reading);
      // A later build may have removed the file, so the next request reads again.
      reading.catch(() => known.set(name, undefined));
      return reading;
    },
  };
}

async function readPageFile(path: string): Promise<PageFile> {
  const bytes = readPackageFile(path);
  if (bytes === undefined) throw new Error(`${path} is missing`);
  const compressed = await gzipAsync(bytes, { level: 9 });
  return compressed.length < bytes.length ? { bytes, gzip: compressed } : { bytes };
}

/** Rejects with the output of the script if it fails. */
function buildPage(root: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BUILD_SCRIPT], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said = (said + part).slice(-2000);
    });
    child.once('error', reject);
    child.once('close', status => {
      if (status === 0) resolve();
      else reject(new Error(`building the explorer page failed: ${said}`));
    });
  });
}
