/**
 * `npm pack` and `npm publish` run this first: the sources to JavaScript in `dist/`, because Node strips no types of what lies
 * below node_modules; with the types of the library, the default configuration and the explorer page.
 *
 * Modules stay one to one, not a bundle: worker threads and the page are found beside them by name, and a stack trace tells
 * where. Of the types only those of the library stay, which name no other module.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, say } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';

const DIST = join(ROOT, 'dist');
const COMPILED = ['bin', 'local', 'shared'];
const LIBRARY_TYPES = join(DIST, 'local', 'embed.d.ts');
const PAGE_SCRIPT = join(ROOT, 'scripts', 'build-ui.mjs');

ensureInstalled();
const [runtime] = findRuntimes();
for (const folder of [...COMPILED, 'config']) rmSync(join(DIST, folder), { recursive: true, force: true });
run(join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), ['-p', 'scripts/tsconfig.package.json']);
for (const folder of COMPILED) {
  for (const file of globSync(join(DIST, folder, '**', '*.d.ts'))) if (file !== LIBRARY_TYPES) rmSync(file);
}
checkLibraryTypes();
cpSync(join(ROOT, 'config', 'local.yaml'), join(DIST, 'config', 'local.yaml'));
if (existsSync(PAGE_SCRIPT)) run(PAGE_SCRIPT, []);

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
