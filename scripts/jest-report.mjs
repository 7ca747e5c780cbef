/** Evaluates jest's report (`--json`): the true counts. */
import { relative } from 'node:path';
import { errorText } from './error-text.mjs';

/**
 * Counts results. A test file that cannot run, or during which Node.js crashes, counts as one failure.
 * The failures are names, each with the starts of its errors.
 * @param root paths in `failures` are relative to it
 */
export function countOf({ testResults }, root) {
  const count = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const { name, status, assertionResults } of testResults) {
    const file = relative(root, name);
    let failed = 0;
    for (const result of assertionResults) {
      if (result.status === 'passed') count.passed++;
      else if (result.status !== 'failed') count.skipped++;
      else {
        failed++;
        count.failures.push(
          [`${file}: ${result.fullName}`, ...result.failureMessages.map(errorText)].join('\n'),
        );
      }
    }
    if (status === 'failed' && failed === 0) count.failures.push(`${file}: could not run`);
  }
  count.failed = count.failures.length;
  return count;
}
