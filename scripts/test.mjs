/**
 * `npm test`: runs all checks of the project and its fast tests; `npm run test:all` runs all tests in their
 * long forms (test/support/suite.ts). Installs what is missing, runs each check with the pinned Node.js,
 * shows failures, and ends with the true count as its last line:
 *
 *     N passed, N failed          (or: N passed, N failed, N skipped)
 *
 * A check (format and lint, types, dependencies) counts as one, a test of jest as one, and a test file that
 * cannot run as one failure. `npm test -- PATTERN` runs only jest with these arguments, in the long forms.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { cacheFolder, ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { ensureStackInstalled } from '../bin/stack-modules.mjs';
import { countOf } from './jest-report.mjs';

/**
 * Heap flags of the program (bin/tuning.mjs): without them, V8 collects for every few large buffers. The last one is for the tests:
 * each assembles a store, whose buffers would cause a full collection at every 64 MB. It saves a third of the CPU time.
 */
const JEST_FLAGS = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  '--initial-heap-size=128',
  '--max-semi-space-size=4',
  '--external-memory-accounted-in-global-limit',
];
/** Number of slow files that a run of a whole suite lists. */
const SHOWN_FILES = 20;
const CRUISED = ['shared', 'local', 'bin', 'lib', 'functions'];

ensureInstalled();
// Types and tests of the stack need the CDK.
ensureStackInstalled();
const [runtime] = findRuntimes();
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const isFull = process.argv[2] === '--all';
const jestArguments = process.argv.slice(isFull ? 3 : 2);
const suite = isFull || jestArguments.length > 0 ? 'full' : 'fast';

if (jestArguments.length === 0) {
  const folders = CRUISED.filter(folder => existsSync(join(ROOT, folder)));
  // The last one needs one core for as long as the others together.
  await Promise.all([
    checkFormatAndTypes(),
    check('arrows (dependency-cruiser)', [
      ...[
        tool('dependency-cruiser', 'depcruise'),
        '--config',
        '.dependency-cruiser.cjs',
        '--output-type',
        'err',
      ],
      ...folders,
    ]),
  ]);
}
await runJest(jestArguments);

if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map(name => `  ${name}`).join('\n')}\n`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Script of a package's command. */
function tool(name, command) {
  const folder = join(ROOT, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
}

/**
 * Runs the pinned Node.js once; captures its output if `shown` is false. The status is null if it could not
 * run, or was killed.
 */
async function run(args, { shown }) {
  const child = spawn(runtime, args, {
    cwd: ROOT,
    stdio: ['ignore', shown ? 'inherit' : 'pipe', shown ? 'inherit' : 'pipe'],
    env: { NODE_COMPILE_CACHE: cacheFolder(), TEST_SUITE: suite, ...process.env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', text => (output += text));
  try {
    const [status] = await once(child, 'close');
    return { status, output };
  } catch (error) {
    return { status: null, output: error.message };
  }
}

async function checkFormatAndTypes() {
  await check('format and lint (biome)', [tool('@biomejs/biome', 'biome'), 'check', '--log-level=warn', '.']);
  await check('types (tsc)', [tool('typescript', 'tsc'), '--noEmit']);
  await check('types of the page (tsc)', [tool('typescript', 'tsc'), '--noEmit', '--project', 'ui']);
  await check('types of the kernels (tsc)', [
    tool('typescript', 'tsc'),
    '--project',
    'shared/base/kernels/assembly',
  ]);
}

/** Passes with exit status 0. */
async function check(name, args) {
  const { status, output } = await run(args, { shown: false });
  if (status === 0) {
    total.passed++;
    process.stdout.write(`ok      ${name}\n`);
    return;
  }
  fail(name);
  process.stdout.write(`FAILED  ${name}\n${output}\n`);
}

function fail(name) {
  total.failed++;
  failures.push(name);
}

async function runJest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'logboom-test-'));
  try {
    add(await reportOf(args, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Report of jest; undefined, and counted as a failure, if there is none. */
async function reportOf(args, folder) {
  const file = join(folder, 'report.json');
  rmSync(file, { force: true });
  const jest = [tool('jest', 'jest'), '--json', `--outputFile=${file}`, ...args];
  const { status } = await run([...JEST_FLAGS, ...jest], { shown: true });
  if (!existsSync(file)) return void fail(`jest (no report, exit status ${status ?? 'none'})`);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  // No test found, or another problem that jest reports only by its exit code.
  if (status !== 0 && countOf(report, ROOT).failed === 0) fail(`jest (exit status ${status ?? 'none'})`);
  return report;
}

/** The files that decide how long a run takes. */
function showSlowest({ testResults }) {
  const files = testResults.map(({ name, startTime, endTime }) => [endTime - startTime, name]);
  for (const [ms, name] of files.sort(([a], [b]) => b - a).slice(0, SHOWN_FILES))
    process.stdout.write(`${Math.round(ms / 1000)} s  ${relative(ROOT, name)}\n`);
}

function add(report) {
  if (report === undefined) return;
  if (jestArguments.length === 0) showSlowest(report);
  const { passed, skipped, failures: failed } = countOf(report, ROOT);
  total.passed += passed;
  total.skipped += skipped;
  for (const name of failed) fail(name);
}
