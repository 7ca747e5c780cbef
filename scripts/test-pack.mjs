/**
 * `npm run test:pack`: installs the output of `npm pack` in an empty folder as a user would, and uses it: the
 * command, a store with worker threads and the page, the library with its types. Needs the npm registry, or a
 * cache with the packages. The last line is `N passed, N failed`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';

ensureInstalled();
const [runtime] = findRuntimes();
const folder = mkdtempSync(join(tmpdir(), 'logboom-pack-'));
const env = { ...process.env, PATH: `${dirname(runtime)}${delimiter}${process.env.PATH}` };
// Drops variables of the calling npm, which would give its child the path of the project.
for (const name of Object.keys(env))
  if (/^npm_/i.test(name) && !/registry|cache|userconfig/i.test(name)) delete env[name];
delete env.NODE_COMPILE_CACHE;
const LINES = 3000;
const count = { passed: 0, failed: 0 };

const CONFIG = `
auth_enabled: false
limits_config:
  reject_old_samples: false
logboom:
  query_workers: 2
  data_dir: ./data
`;
const SAMPLE = `import { type Logboom, type LogboomOptions, startLogboom } from 'logboom';

const options: LogboomOptions = { dataDir: './embedded', logLevel: 'error' };
const store: Logboom = await startLogboom(options);
const answer: Response = await fetch(\`\${store.url}/loki/api/v1/status/buildinfo\`);
console.log(answer.status);
await store.stop();
// @ts-expect-error a folder cannot be a number
void ((): Promise<Logboom> => startLogboom({ dataDir: 1 }));
`;
const TYPES = {
  compilerOptions: {
    strict: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'dom'],
    types: [],
    skipLibCheck: false,
    outDir: 'out',
  },
  files: ['sample.ts'],
};

try {
  await testPackage();
} catch (error) {
  check('it ran to its end', false, String(error.stack ?? error));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
process.exitCode = count.failed > 0 ? 1 : 0;

async function testPackage() {
  const packed = run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
  const archive = readdirSync(folder).find(name => name.endsWith('.tgz'));
  check('npm pack makes an archive', archive !== undefined, packed.stderr);
  if (archive === undefined) return;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const installed = run('npm', [
    ...['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'],
    join(folder, archive),
  ]);
  check('it installs in an empty folder', installed.status === 0, installed.stderr);
  const own = JSON.parse(readFileSync(join(folder, 'node_modules', 'logboom', 'package.json'), 'utf8'));
  const needed = { ...own.dependencies, ...own.optionalDependencies, ...own.peerDependencies };
  check('it asks for no other package', Object.keys(needed).length === 0, JSON.stringify(needed));
  const version = logboom('--version');
  check('--version prints the version of the package', version.stdout === `${own.version}\n`, version.stderr);
  check('--help lists the commands', /\n {2}push /.test(logboom('--help').stdout));
  await testStore();
  testLibrary();
}

async function testStore() {
  const config = join(folder, 'logboom.yaml');
  writeFileSync(config, CONFIG);
  const args = ['start', '--port', '0', '--config', config, '--data-dir', join(folder, 'data')];
  const store = spawn(command(), args, { cwd: folder, env });
  let said = '';
  for (const stream of [store.stdout, store.stderr]) stream.on('data', piece => (said += piece));
  const closed = once(store, 'close');
  try {
    let url;
    while (url === undefined && store.exitCode === null) {
      await Promise.race([once(store.stdout, 'data'), closed]);
      url = /Logboom listens on (http:\S+)/.exec(said)?.[1];
    }
    check('logboom start listens', url !== undefined, said);
    if (url === undefined) return;
    const file = join(folder, 'app.log');
    writeFileSync(file, Array.from({ length: LINES }, (_, i) => `line ${i} of the log`).join('\n'));
    const pushed = logboom('push', file, '--label', 'app=shop', '--addr', url);
    check('push stores a file', pushed.stdout.startsWith(`pushed ${LINES} lines`), pushed.stderr);
    const found = logboom('query', '{app="shop"} |= "line 2999 "', '--output', 'raw', '--addr', url);
    check('query finds a line', found.stdout === 'line 2999 of the log\n', found.stderr);
    const counted = logboom(
      'instant',
      'sum(count_over_time({app="shop"}[1h]))',
      '--output',
      'raw',
      '--addr',
      url,
    );
    check('instant counts the lines', counted.stdout === `${LINES}\n`, counted.stderr);
    // Runs in the maintenance thread.
    const flushed = await fetch(`${url}/flush/tenant`, { method: 'POST' });
    check('a flush packs what was pushed', flushed.status === 204, await flushed.text());
    const again = logboom('query', '{app="shop"} |= "line 2999 "', '--output', 'raw', '--addr', url);
    check('and the line is found as before', again.stdout === 'line 2999 of the log\n', again.stderr);
    const page = await fetch(`${url}/ui/`);
    check('the explorer page is there', page.status === 200 && /<script/.test(await page.text()));
  } finally {
    store.kill('SIGTERM');
    const [code] = await closed;
    check('SIGTERM stops the store', code === 0, said);
  }
}

/** Tests the library as a TypeScript program uses it: without Node's types, and with all types checked. */
function testLibrary() {
  writeFileSync(join(folder, 'sample.ts'), SAMPLE);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TYPES));
  symlinkSync(join(ROOT, 'node_modules', 'typescript'), join(folder, 'node_modules', 'typescript'));
  const types = run(runtime, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder]);
  check('a program that embeds it passes the check of types', types.status === 0, types.stdout);
  const ran = run(runtime, ['--disable-warning=ExperimentalWarning', join(folder, 'out', 'sample.js')]);
  check('and starts and stops a store', ran.stdout === '200\n', ran.stdout + ran.stderr);
}

function command() {
  return join(folder, 'node_modules', '.bin', process.platform === 'win32' ? 'logboom.cmd' : 'logboom');
}

function logboom(...args) {
  return run(command(), args);
}

function run(file, args, { cwd = folder } = {}) {
  return spawnSync(file, args, { cwd, env, encoding: 'utf8', shell: process.platform === 'win32' });
}

function check(name, isGood, told = '') {
  count[isGood ? 'passed' : 'failed']++;
  process.stdout.write(
    `${isGood ? 'ok     ' : 'FAILED '} ${name}\n${isGood || told === '' ? '' : `${told}\n`}`,
  );
}
