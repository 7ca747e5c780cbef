/**
 * `npm run test:duckdb`: exports entries of two days as Parquet in Hive folders from a store on this machine,
 * and reads them with DuckDB (PyPI, in the system's temporary folder). Names what it skips. The last line: `N
 * passed, N failed, N skipped`.
 */
import { deepStrictEqual } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { CACHE, pythonWith, Unavailable } from './clients/install.mjs';
import { freePort, processes, say, until } from './processes.mjs';

const DUCKDB = 'duckdb==1.4.1';
const LINES = 2000;
const START_TIMEOUT_MS = 60_000;
/** Range from 12:00 of one day to 12:00 of the next. */
const START_MS = Date.parse('2026-01-05T12:00:00Z');
const STEP_MS = (24 * 3600 * 1000) / LINES;
const DAYS = ['2026-01-05', '2026-01-06'];

ensureInstalled();
mkdirSync(CACHE, { recursive: true });
const counts = { passed: 0, failed: 0, skipped: 0 };
const folder = mkdtempSync(join(tmpdir(), 'logboom-test-duckdb-'));
const { startStore, stopAll } = processes(folder);
try {
  await run();
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  counts.skipped++;
  say(`skipped: ${DUCKDB} cannot be had here: ${error.message}`);
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;

async function run() {
  // Checked first: without it, nothing else is needed.
  const python = pythonWith('duckdb', [DUCKDB]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, 'config.yaml');
  writeFileSync(config, 'limits_config: {reject_old_samples: false}\n');
  const store = startStore(config, port);
  await until(START_TIMEOUT_MS, store, async () => (await fetch(`${url}/ready`).catch(() => undefined))?.ok);
  await push(url);
  const lake = join(folder, 'lake');
  const range = ['--from', '2026-01-05', '--to', '2026-01-07', '--timezone', 'UTC', '--part', '6h'];
  const to = ['--format', 'parquet', '--hive', '--parts-dir', lake];
  const program = join(ROOT, 'bin', 'logboom.cjs');
  const from = ['--addr', url, '--tenant', 'team_1'];
  must(process.execPath, [program, 'export', '{app=~".+"}', ...from, ...range, ...to]);
  const read = JSON.parse(must(python, [join(ROOT, 'scripts', 'clients', 'duckdb-lake.py'), lake]));
  say(`DuckDB ${read.version}`);
  const tests = {
    'columns have their types': () => {
      const { timestamp, timestamp_ns, labels, field_took, field_ok, field_n, day } = read.types;
      deepStrictEqual(
        [timestamp, timestamp_ns, labels, field_took, field_ok, field_n, day],
        [
          'TIMESTAMP WITH TIME ZONE',
          'BIGINT',
          'MAP(VARCHAR, VARCHAR)',
          'DOUBLE',
          'BOOLEAN',
          'BIGINT',
          'DATE',
        ],
      );
    },
    'services and days have their entries': () => deepStrictEqual(read.services, expectedServices()),
    'an entry is as it was pushed': () =>
      deepStrictEqual(read.first, [START_MS * 1e6, 'warn', lineOf(0), 'api/1', 't0', 'team_1']),
    'both times are the same': () => deepStrictEqual(read.times, 0),
    'a day is a partition': () => deepStrictEqual(read.of_a_day, LINES / 2),
  };
  for (const [name, test] of Object.entries(tests)) {
    try {
      test();
      counts.passed++;
      say(`passed: ${name}`);
    } catch (error) {
      counts.failed++;
      say(`failed: ${name}: ${error.message}`);
    }
  }
}

function lineOf(i) {
  return JSON.stringify({ n: i, took: i / 8, ok: i % 3 === 0, msg: `ü "${i}"` });
}

/** Service of an entry: even lines of one, odd lines of the other. */
function appOf(i) {
  return i % 2 === 0 ? 'api/1' : 'web';
}

function expectedServices() {
  return ['api/1', 'web'].flatMap(app =>
    DAYS.map((day, d) => {
      const half = Array.from({ length: LINES / 2 }, (_, i) => i + (d * LINES) / 2);
      const own = half.filter(i => appOf(i) === app);
      return [app, day, own.length, own.reduce((sum, i) => sum + i / 8, 0)];
    }),
  );
}

async function push(url) {
  const all = Array.from({ length: LINES }, (_, i) => i);
  const streams = ['api/1', 'web'].map(app => ({
    stream: { app, service_name: app, level: 'warn' },
    values: all
      .filter(i => appOf(i) === app)
      .map(i => [`${START_MS + i * STEP_MS}000000`, lineOf(i), { trace: `t${i}` }]),
  }));
  const response = await fetch(`${url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': 'team_1' },
    body: JSON.stringify({ streams }),
  });
  if (response.status !== 204) throw new Error(`push: ${response.status} ${await response.text()}`);
}

function must(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
