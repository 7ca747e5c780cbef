/**
 * `npm pack` and `npm publish` run this first: the program as a bundle in `dist/server` (bundle-server.mjs), with the licences of what
 * is in it, the types of the library, and the explorer page. Types are made of the whole program, and those of the library stay, which
 * name no other module.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, ROOT, say } from '../bin/installed.mjs';
import { findRuntimes, PINNED_NODES } from '../bin/runtime.mjs';

const DIST = join(ROOT, 'dist');
const SERVER = join(DIST, 'server');
const LIBRARY_TYPES = join(SERVER, 'embed.d.mts');
const PAGE_SCRIPT = join(ROOT, 'scripts', 'build-ui.mjs');

ensureInstalled();
const [runtime] = findRuntimes();
for (const folder of ['server', 'bin', 'local', 'shared', 'config'])
  rmSync(join(DIST, folder), { recursive: true, force: true });
await bundle();
makeTypes();
checkLibraryTypes();
if (existsSync(PAGE_SCRIPT)) run(PAGE_SCRIPT, []);

async function bundle() {
  // What it needs may have been installed just now.
  const { bundleServer, licencesOf } = await import('./bundle-server.mjs');
  const inputs = await bundleServer(SERVER);
  writeFileSync(join(SERVER, 'LICENCES.txt'), `${licencesOf(inputs)}\n`);
  writeFileSync(join(SERVER, 'node.json'), `${JSON.stringify(pinnedNodes(), undefined, 2)}\n`);
}

/** What bin/fetched-node.mjs fetches, by platform and processor, with the checksums of package-lock.json. */
function pinnedNodes() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const pinned = [...PINNED_NODES].map(([system, name]) => {
    const { version, integrity } = packages[`node_modules/${name}`];
    return [system, { name, version, integrity }];
  });
  return Object.fromEntries(pinned.filter(([, { integrity }]) => integrity !== undefined));
}

function makeTypes() {
  const folder = mkdtempSync(join(tmpdir(), 'logboom-types-'));
  try {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    run(tsc, ['-p', 'scripts/tsconfig.package.json', '--outDir', folder]);
    copyFileSync(join(folder, 'local', 'embed.d.ts'), LIBRARY_TYPES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An import there would name a file that is not in the package. */
function checkLibraryTypes() {
  if (!/\b(from|import\() *['"]/.test(readFileSync(LIBRARY_TYPES, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')))
    return;
  say(`${LIBRARY_TYPES} imports from another module: its types have to stand alone`);
  process.exit(1);
}

/** Standard output belongs to npm, which prints the name of the package there. */
function run(file, args) {
  const { status } = spawnSync(runtime, [file, ...args], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
