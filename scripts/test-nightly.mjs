/**
 * `npm run test:nightly`: the suites that take too long for each change, one after another. A suite that fails
 * does not stop the next one. For what each of them does, see docs/dev/testing.md. The last line:
 *
 *     N passed, N failed, N skipped
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { countsOf } from './closing-line.mjs';
import { say } from './processes.mjs';

/** End of the output that is searched for the closing line, characters. */
const MAX_END = 10_000;
const SUITES = [
  ['test-canary.mjs'],
  ['test-clients.mjs'],
  ['test-duckdb.mjs'],
  ['test-differential.mjs'],
  ['simulate.mjs', '--minutes', '30'],
];

ensureInstalled();
const total = { passed: 0, failed: 0, skipped: 0 };
const summary = [];
for (const [script, ...args] of SUITES) {
  say(`\n== ${script}`);
  const { output, code } = await run(script, args);
  const counts = countsOf(output, code);
  for (const name of Object.keys(total)) total[name] += counts[name];
  summary.push(`${counts.failed > 0 ? 'FAILED' : 'passed'}  ${script}`);
}
say(`\n${summary.join('\n')}\n\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Runs a script of this folder, shows its output, and resolves to the end of it. */
function run(script, args) {
  return new Promise(resolve => {
    const stdio = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, [join(ROOT, 'scripts', script), ...args], { stdio });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', part => {
      process.stdout.write(part);
      output = `${output}${part}`.slice(-MAX_END);
    });
    child.once('close', code => resolve({ output, code }));
  });
}
