/**
 * `npm run build:binary [-- SYSTEM]`: builds the program as one file without Node.js, `dist/logboom-SYSTEM`,
 * and the same compressed. SYSTEM is linux-x64 or linux-arm64 (default: this machine's). It is the Node.js of
 * the lock file without symbols, with the flags of the store, explorer page and configuration inside, and the
 * bundle with its compiled code at its end (https://nodejs.org/api/single-executable-applications.html).
 *
 * The executable itself compiles the code, so a build for another processor has none: it also starts, in
 * twice the time.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { ensureInstalled, npmCommand, ROOT, say } from '../bin/installed.mjs';
import { PINNED_NODES } from '../bin/runtime.mjs';
import { dropSymbols } from '../bin/shrink-node.mjs';
import { FIXED_FLAGS } from '../bin/tuning.mjs';
import { endOf, writeArchive } from './single/archive.mjs';

const SYSTEMS = ['linux-x64', 'linux-arm64'];
const OWN = `${process.platform}-${process.arch}`;
const DIST = join(ROOT, 'dist');
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const MAX_COMPRESSED_BYTES = 80_000_000;

const [system = OWN] = process.argv.slice(2);
if (!SYSTEMS.includes(system))
  fail(`there is no single executable for ${system}: choose ${SYSTEMS.join(' or ')}`);
ensureInstalled();
const folder = mkdtempSync(join(tmpdir(), 'logboom-binary-'));
try {
  await buildBinary();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function buildBinary() {
  const { bundleServer, licensesOf } = await import('../bin/bundle-server.mjs');
  const bundle = join(folder, 'bundle');
  const inputs = await bundleServer(bundle);
  run(process.execPath, [join(ROOT, 'scripts', 'build-ui.mjs')]);
  const assets = new Map([
    ['load.cjs', join(ROOT, 'scripts', 'single', 'load.cjs')],
    ['config/local.yaml', join(ROOT, 'config', 'local.yaml')],
    ['LICENCES.txt', join(folder, 'licenses')],
  ]);
  writeFileSync(join(folder, 'licenses'), licensesOf(inputs));
  const ui = join(DIST, 'ui');
  for (const name of readdirSync(ui)) assets.set(`dist/ui/${name}`, join(ui, name));

  const target = join(DIST, `logboom-${system}`);
  mkdirSync(DIST, { recursive: true });
  await inject(nodeOf(system), assets, target);
  const end = endOf(target);
  const files = new Map(
    readdirSync(bundle)
      .filter(name => name.endsWith('.js'))
      .map(name => [name, readFileSync(join(bundle, name))]),
  );
  writeArchive(target, end, files);
  if (system === OWN) writeArchive(target, end, [...files, ...(await compiledBy(target))]);
  const compressed = gzipSync(readFileSync(target), { level: constants.Z_BEST_COMPRESSION });
  writeFileSync(`${target}.gz`, compressed);
  say(`${target}: ${megabytes(readFileSync(target))} MB, ${megabytes(compressed)} MB in gzip`);
  if (compressed.length > MAX_COMPRESSED_BYTES) fail('that is more than 80 MB');
}

/** Node.js of the lock file; npm fetches it for another system, with the same checksum. */
function nodeOf(wanted) {
  const name = PINNED_NODES.get(wanted);
  const installed = join(ROOT, 'node_modules', name, 'bin', 'node');
  if (existsSync(installed)) return installed;
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const { version, integrity } = packages[`node_modules/${name}`];
  const place = join(folder, 'node');
  mkdirSync(place);
  const own = { name: 'node-of-binary', version: '0.0.0', dependencies: { [name]: version } };
  const entries = { '': own, [`node_modules/${name}`]: { version, integrity } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(own));
  writeFileSync(
    join(place, 'package-lock.json'),
    JSON.stringify({ ...own, lockfileVersion: 3, requires: true, packages: entries }),
  );
  const [command, ...before] = npmCommand();
  const [os, cpu] = wanted.split('-');
  run(
    command,
    [...before, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', `--os=${os}`, `--cpu=${cpu}`],
    place,
  );
  return join(place, 'node_modules', name, 'bin', 'node');
}

async function inject(node, assets, target) {
  const blob = join(folder, 'blob');
  const main = join(folder, 'main.cjs');
  const { build } = await import('esbuild');
  const entry = join(ROOT, 'scripts', 'single', 'main.mjs');
  await build({ entryPoints: [entry], outfile: main, bundle: true, format: 'cjs', platform: 'node' });
  const config = {
    main,
    output: blob,
    disableExperimentalSEAWarning: true,
    execArgv: FIXED_FLAGS,
    assets: Object.fromEntries(assets),
  };
  const file = join(folder, 'sea.json');
  writeFileSync(file, JSON.stringify(config));
  // The blob format depends on the Node.js version.
  run(join(ROOT, 'node_modules', PINNED_NODES.get(OWN), 'bin', 'node'), ['--experimental-sea-config', file]);
  rmSync(target, { force: true });
  copyFileSync(node, target);
  const { inject: put } = await import('postject');
  await put(target, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: FUSE });
  dropSymbols(target);
  chmodSync(target, 0o755);
}

/** Compiled code of the parts, captured after the program has started, stored a line and stopped. */
async function compiledBy(program) {
  const caches = join(folder, 'caches');
  const data = join(folder, 'data');
  mkdirSync(caches);
  const env = { ...process.env, LOGBOOM_WRITE_CACHE: caches };
  const child = spawn(program, ['start', '--port', '0', '--data-dir', data], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise(resolve => child.once('close', resolve));
  let said = '';
  for await (const part of child.stdout.setEncoding('utf8')) {
    said += part;
    const url = /listens on (http:\S+)/.exec(said)?.[1];
    if (url === undefined) continue;
    run(program, ['push', join(ROOT, 'LICENSE'), '--label', 'app=build', '--addr', url]);
    run(program, ['doctor', '--help'], ROOT, env);
    // Last: every command loads the file of the command line, and most of them are like this one.
    run(program, ['query', '{app="build"} |= "Apache"', '--addr', url], ROOT, env);
    await fetch(`${url}/flush/tenant`, { method: 'POST' });
    child.kill('SIGTERM');
    break;
  }
  child.stdout.resume();
  await closed;
  return readdirSync(caches).map(name => [name, readFileSync(join(caches, name))]);
}

function run(file, args, cwd = ROOT, env = process.env) {
  const { status, error, stdout, stderr } = spawnSync(file, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) fail(`${file} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
}

function megabytes(bytes) {
  return (bytes.length / 1e6).toFixed(1);
}

function fail(message) {
  say(message);
  process.exit(1);
}
