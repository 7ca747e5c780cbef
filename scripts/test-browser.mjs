/**
 * `npm run test:browser`: runs the explorer page in a real browser, each feature as a user would. Runs the
 * files `test/browser/*.browser.ts` with Chromium: that of LOGBOOM_CHROMIUM, else the system's, else
 * Debian's, which is installed if this runs as root. Without Chromium it prints a note, and the exit code is
 * 0. Screenshots are in `dist/screenshots/`. A file with a failed test runs once more at the end, and that
 * result counts: `again: FILE`. Tests that passed only then are named before the count (`flaky: NAME`), and so
 * are tests that failed again, with their errors. The last line is the count:
 *
 *     N passed, N failed          (or: 0 passed, 0 failed, 1 skipped)
 *
 * `npm run test:browser -- logs` runs the files with `logs` in their name.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { cacheFolder, findRuntimes } from '../bin/runtime.mjs';
import { CHROMIUM_ARGUMENTS, findChromium } from './chromium.mjs';
import { hasFailed, resultsOf, summaryOf } from './test-results.mjs';

const FOLDER = join(ROOT, 'test', 'browser');
const SCREENSHOTS = join(ROOT, 'dist', 'screenshots');
const REPORTER = pathToFileURL(join(ROOT, 'scripts', 'results-reporter.mjs')).href;
const TEST_TIMEOUT_MS = 120_000;

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
    .sort();
  mkdirSync(SCREENSHOTS, { recursive: true });
  const [runtime] = findRuntimes();
  // One browser for all files, each of which opens its own contexts.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launchServer({ executablePath: program, args: CHROMIUM_ARGUMENTS });
  const env = {
    NODE_COMPILE_CACHE: cacheFolder(),
    ...process.env,
    LOGBOOM_BROWSER: browser.wsEndpoint(),
    LOGBOOM_SCREENSHOTS: SCREENSHOTS,
  };
  const folder = mkdtempSync(join(tmpdir(), 'logboom-test-browser-'));
  const runs = [];
  const runFile = async file => {
    const output = join(folder, 'results');
    rmSync(output, { force: true });
    const args = [
      '--disable-warning=ExperimentalWarning',
      '--test',
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...[`--test-reporter=${REPORTER}`, `--test-reporter-destination=${output}`],
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      join(FOLDER, file),
    ];
    const { stdout, stderr } = await outputOf(runtime, args, env);
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    runs.push({ file, results: existsSync(output) ? resultsOf(readFileSync(output, 'utf8')) : [] });
  };
  try {
    for (const file of files) await runFile(file);
    for (const { file } of runs.filter(hasFailed)) {
      say(`again: ${file}`);
      await runFile(file);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await browser.close();
  }
  const { passed, failed, lines } = summaryOf(runs);
  for (const line of lines) say(line);
  say(`${passed} passed, ${failed} failed`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
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
