/**
 * Prepares `npm pack` and `npm publish`: the program as a bundle in `dist/server` (bin/bundle-server.mjs), the
 * licenses of its packages, the types of the library, and the explorer page. Types are generated from the
 * whole program; only those of the library are kept, which import no other module.
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
  // Its packages may have been installed just now.
  const { bundleServer, licensesOf } = await import('../bin/bundle-server.mjs');
  const inputs = await bundleServer(SERVER);
  writeFileSync(join(SERVER, 'LICENCES.txt'), `${licensesOf(inputs)}\n`);
  writeFileSync(join(SERVER, 'node.json'), `${JSON.stringify(pinnedNodes(), undefined, 2)}\n`);
}

/**
 * Node.js packages for bin/fetched-node.mjs, by platform and processor, with the checksums of
 * package-lock.json.
 */
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

/** An import would name a file that is not in the package. */
function checkLibraryTypes() {
  if (!/\b(from|import\() *['"]/.test(readFileSync(LIBRARY_TYPES, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')))
    return;
  say(`${LIBRARY_TYPES} imports from another module: its types have to stand alone`);
  process.exit(1);
}

/** npm uses standard output to print the package name. */
function run(file, args) {
  const { status } = spawnSync(runtime, [file, ...args], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
