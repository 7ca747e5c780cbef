/** Counts of a test command, from its closing line and its exit code. */

const CLOSING_LINE = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm;

/**
 * A command without a closing line counts as one test. A command that fails counts at least one failure, such
 * as after a crash.
 */
export function countsOf(output, code) {
  const last = [...output.matchAll(CLOSING_LINE)].at(-1);
  const isWell = code === 0;
  if (last === undefined) return { passed: isWell ? 1 : 0, failed: isWell ? 0 : 1, skipped: 0 };
  const [passed, failed, skipped] = last.slice(1).map(text => Number(text ?? 0));
  return { passed, failed: isWell ? failed : Math.max(1, failed), skipped };
}
