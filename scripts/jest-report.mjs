/**
 * What jest's report (`--json`) says of a run: its true count, and the test files under which Node itself crashed.
 *
 * JavaScript and WebAssembly cannot cause a SIGSEGV, only a fault of Node can, and this project has no native part of its own.
 * Contexts of `node:vm` with modules, which jest runs tests in, are known for it (nodejs/node#43083, #54735): seen once in some
 * dozens of runs of all tests, while threads were killed. The program has no such contexts; the same threads killed 1,280 times
 * without them never did. So a file whose process ended that way is run once more, and said to be; whatever else ends a process
 * is a failure.
 */
import { relative } from 'node:path';

const CRASH = /terminated by another process: signal=SIGSEGV\b/;
/** More of them in one run are no accident. */
const MAX_AGAIN = 2;

/** Absolute paths of the files that should run once more; none where too many crashed. */
export function crashedFiles({ testResults }) {
  const crashed = testResults.filter(isCrash).map(({ name }) => name);
  return crashed.length > MAX_AGAIN ? [] : crashed;
}

/**
 * A test file that cannot run counts as one failed.
 * @param root paths in `failures` are relative to it
 * @param again files that another run counts
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
