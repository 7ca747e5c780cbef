/**
 * `npm run test:browser`: runs the explorer page in a real browser, each feature as a user would. Runs the
 * files `test/browser/*.browser.ts` with Chromium: that of LOGBOOM_CHROMIUM, else the system's, else
 * Debian's, which is installed if this runs as root. Without Chromium it prints a note, and the exit code is
 * 0. Two files run at a time, each with a separate browser. Screenshots are in `dist/screenshots/`. A file with
 * a failed test runs once more at the end, alone, and that result counts: `again: FILE`. Tests that passed only
 * then are named before the count (`flaky: NAME`), and so are tests that failed again, with their errors. The
 * last line is the count:
 *
 *     N passed, N failed          (or: 0 passed, 0 failed, 1 skipped)
 *
 * `npm run test:browser -- logs` runs the files with `logs` in their name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { programOfCheckout } from '../bin/checkout.mjs';
import { cacheFolder, ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { CHROMIUM_ARGUMENTS, findChromium } from './chromium.mjs';
import { hasFailed, resultsOf, summaryOf } from './test-results.mjs';

const FOLDER = join(ROOT, 'test', 'browser');
const SCREENSHOTS = join(ROOT, 'dist', 'screenshots');
const THREADS = pathToFileURL(join(ROOT, 'test', 'support', 'bundled-threads.mjs')).href;
const REPORTER = pathToFileURL(join(ROOT, 'scripts', 'results-reporter.mjs')).href;
const TEST_TIMEOUT_MS = 120_000;
const FILES_AT_ONCE = 2;

ensureInstalled();
const chromium = findChromium(say);
if (chromium === undefined) {
  say('SKIPPED test:browser: there is no Chromium, and it could not be installed with apt-get as root');
  say('0 passed, 0 failed, 1 skipped');
} else await run(chromium);

async function run(program) {
  const wanted = process.argv.slice(2);
  const files = readdirSync(FOLDER)
    .filter(name => name.endsWith('.browser.ts'))
    .filter(name => wanted.length === 0 || wanted.some(part => name.includes(part)))
    // Long files first, so that none of them runs alone at the end.
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  mkdirSync(SCREENSHOTS, { recursive: true });
  const [runtime] = findRuntimes();
  const { chromium } = await import('playwright-core');
  // Built before the files run, which would build the same at the same time.
  const built = spawnSync(runtime, [join(ROOT, 'scripts', 'build-ui.mjs')], { stdio: 'inherit' });
  if (built.status !== 0) throw new Error('the page could not be built');
  const env = {
    NODE_COMPILE_CACHE: cacheFolder(),
    ...process.env,
    TEST_PROGRAM: await programOfCheckout({ stays: true }),
    LOGBOOM_SCREENSHOTS: SCREENSHOTS,
  };
  const folder = mkdtempSync(join(tmpdir(), 'logboom-test-browser-'));
  const runs = [];
  const runFile = async (file, endpoint) => {
    const output = join(folder, file);
    rmSync(output, { force: true });
    const args = [
      '--disable-warning=ExperimentalWarning',
      `--import=${THREADS}`,
      '--test',
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...[`--test-reporter=${REPORTER}`, `--test-reporter-destination=${output}`],
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      join(FOLDER, file),
    ];
    const { stdout, stderr } = await outputOf(runtime, args, { ...env, LOGBOOM_BROWSER: endpoint });
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    runs.push({ file, results: existsSync(output) ? resultsOf(readFileSync(output, 'utf8')) : [] });
  };
  /** Files of a browser share its clipboard, so they run one after the other. Each opens its own contexts. */
  const runInBrowser = async left => {
    const browser = await chromium.launchServer({ executablePath: program, args: CHROMIUM_ARGUMENTS });
    try {
      for (let file = left.shift(); file !== undefined; file = left.shift())
        await runFile(file, browser.wsEndpoint());
    } finally {
      await browser.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, () => runInBrowser(files)));
    const failed = runs.filter(hasFailed).map(({ file }) => file);
    for (const file of failed) say(`again: ${file}`);
    if (failed.length > 0) await runInBrowser(failed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { passed, failed, lines } = summaryOf(runs);
  for (const line of lines) say(line);
  say(`${passed} passed, ${failed} failed`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
}

function sizeOf(name) {
  return statSync(join(FOLDER, name)).size;
}

/** Asynchronous, because the browser's pipes end in this process. */
function outputOf(program, args, env) {
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', part => {
      said[name] += part;
    });
  return new Promise(resolve => {
    child.once('error', error => resolve({ ...said, stderr: error.message }));
    child.once('close', () => resolve(said));
  });
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
