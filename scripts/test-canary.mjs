/**
 * `npm run test:canary`: runs `logboom canary` against a store on this machine that is repeatedly killed
 * (SIGKILL) and merges constantly. For nightly runs; ten minutes unless `--minutes` is set. It fails if the
 * canary finds an entry missing, late or duplicated, or a wrong count. `--seed` repeats the times of the
 * kills. The last line:
 *
 *     1 passed, 0 failed | 0 passed, 1 failed
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { freePort, processes, say, sleep, until } from './processes.mjs';

const START_TIMEOUT_MS = 60_000;
/** Minimum time between two kills: enough for a start and some pushes. */
const LEAST_MS = 10_000;
const MOST_MS = 40_000;
/** Time for the last entries to arrive, and for reading all of them. */
const END_TIMEOUT_MS = 180_000;
const FIGURES = [
  'entries_total',
  'spot_check_entries_total',
  'metric_test_expected',
  'websocket_entries_total',
];

const { values: flags } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
const durationMs = Number(flags.minutes) * 60_000;
if (!(durationMs > 0)) throw new Error('--minutes is a number greater than 0');
const seed = Number(flags.seed ?? Date.now() % 100_000);
ensureInstalled();
const folder = mkdtempSync(join(tmpdir(), 'logboom-test-canary-'));
const { start, startStore, stopAll } = processes(folder);
let failure;
try {
  await run();
} catch (error) {
  failure = error.message;
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
say(
  failure === undefined
    ? 'canary beside kills: passed'
    : `canary beside kills: FAILED, seed ${seed}: ${failure}`,
);
say(failure === undefined ? '1 passed, 0 failed' : '0 passed, 1 failed');
process.exitCode = failure === undefined ? 0 : 1;

async function run() {
  const config = join(folder, 'logboom.yaml');
  writeFileSync(
    config,
    'auth_enabled: false\ncompactor: {compaction_interval: 1s}\nlogboom: {index_sync_interval: 1s}\n',
  );
  const [port, metricsPort] = await Promise.all([freePort(), freePort()]);
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => (await fetch(`${url}/ready`)).ok;
  let store = startStore(config, port);
  await until(START_TIMEOUT_MS, store, isReady);
  const [runtime] = findRuntimes();
  const canary = start('canary', [
    ...[runtime, join(ROOT, 'bin', 'logboom.cjs'), 'canary', '--addr', url, '--name', 'nightly'],
    ...['--interval', '200ms', '--check-interval', '5s', '--metrics-port', `${metricsPort}`],
    ...['--duration', `${Math.round(durationMs / 1000)}s`],
  ]);
  const endMs = Date.now() + durationMs;
  const random = randomOf(seed);
  let kills = 0;
  for (;;) {
    const pauseMs = LEAST_MS + random() * (MOST_MS - LEAST_MS);
    if (Date.now() + pauseMs > endMs) break;
    await sleep(pauseMs);
    if (canary.ended) break;
    store.child.kill('SIGKILL');
    await store.exited;
    kills++;
    store = startStore(config, port);
    await until(START_TIMEOUT_MS, store, isReady);
  }
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  for (const name of FIGURES) {
    if (!new RegExp(`^logboom_canary_${name} [1-9]`, 'm').test(text))
      throw new Error(`metrics have no ${name}`);
  }
  await Promise.race([canary.exited, sleep(Math.max(0, endMs - Date.now()) + END_TIMEOUT_MS)]);
  say(`seed ${seed}, ${kills} kills: ${canary.said().trim().split('\n').slice(-8).join('\n')}`);
  if (!canary.ended) throw new Error('the canary did not end');
  if (canary.code !== 0) throw new Error(`the canary ended with ${canary.code}`);
}

/** Random numbers from 0 to 1, reproducible by seed. */
function randomOf(start) {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
