/**
 * `npm run test:adversarial`: runs test/adversarial in its long form, one file at a time. Then prints a table
 * with the worst response time of another tenant in each case, and the peak memory of the store's process.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../bin/installed.mjs';

const KINDS = ['ready', 'push', 'query'];
const folder = mkdtempSync(join(tmpdir(), 'logboom-adversarial-'));
const file = join(folder, 'report.jsonl');
try {
  const { status } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/test.mjs'), 'test/adversarial', '--maxWorkers=1', ...process.argv.slice(2)],
    { stdio: 'inherit', env: { ...process.env, LOGBOOM_ADVERSARIAL_REPORT: file } },
  );
  process.exitCode = status ?? 1;
  if (existsSync(file)) console.log(tableOf(readFileSync(file, 'utf8')));
} finally {
  rmSync(folder, { recursive: true });
}

/** @param {string} report lines of JSON, as test/adversarial/support/probe.ts writes them */
function tableOf(report) {
  const rows = report
    .trim()
    .split('\n')
    .map(line => {
      const { name, peakBytes, ...figures } = JSON.parse(line);
      const peak = peakBytes === undefined ? '' : Math.round(peakBytes / 1e6);
      return `| ${[name, ...KINDS.map(kind => figures[kind].worstMs), peak].join(' | ')} |`;
    });
  return ['| case | /ready, ms | push, ms | query, ms | peak, MB |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}
