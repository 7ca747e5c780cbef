/**
 * Evaluates jest's report (`--json`): the true counts, and the test files during which Node.js itself
 * crashed.
 *
 * JavaScript and WebAssembly cannot cause a SIGSEGV, and this project has no native code, so only a defect of
 * Node.js can. Contexts of `node:vm` with modules, in which jest runs tests, are known for it
 * (nodejs/node#43083, #54735): seen once in dozens of full runs, while threads were killed. The program has
 * no such contexts; killing the same threads 1,280 times without them never crashed. So a file whose process
 * crashed is run once more, with a note. Any other way to end a process is a failure.
 */
import { relative } from 'node:path';

const CRASH = /terminated by another process: signal=SIGSEGV\b/;
/** Maximum number of crashes; more in one run are not a coincidence. */
const MAX_AGAIN = 2;

/** Absolute paths of the files to run once more; empty if too many crashed. */
export function crashedFiles({ testResults }) {
  const crashed = testResults.filter(isCrash).map(({ name }) => name);
  return crashed.length > MAX_AGAIN ? [] : crashed;
}

/**
 * Counts results. A test file that cannot run counts as one failure. @param root paths in `failures` are
 * relative to it @param again files that another run counts
 */
export function countOf({ testResults }, root, again = []) {
  const count = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const { name, status, assertionResults } of testResults) {
    if (again.includes(name)) continue;
    const file = relative(root, name);
    let failed = 0;
    for (const result of assertionResults) {
      if (result.status === 'passed') count.passed++;
      else if (result.status !== 'failed') count.skipped++;
      else {
        failed++;
        count.failures.push(`${file}: ${result.fullName}`);
      }
    }
    if (status === 'failed' && failed === 0) count.failures.push(`${file}: could not run`);
  }
  count.failed = count.failures.length;
  return count;
}

function isCrash({ status, assertionResults, message }) {
  return status === 'failed' && assertionResults.length === 0 && CRASH.test(message);
}
