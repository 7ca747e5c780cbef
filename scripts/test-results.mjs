/** Evaluates results of test files of which some ran again. */
import { errorText } from './error-text.mjs';

/** Parses lines of results-reporter.mjs. */
export function resultsOf(text) {
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
}

/** A file without results could not run, which is a failure. */
export function hasFailed({ results }) {
  return results.length === 0 || results.some(({ error }) => error !== undefined);
}

/**
 * Counts the last run of each file, and describes the rest: one line for each test that failed first and
 * passed then, and the name and error of each test that failed last.
 * @param runs in the order in which they ran
 */
export function summaryOf(runs) {
  const summary = { passed: 0, failed: 0, lines: [] };
  const last = new Map(runs.map(run => [run.file, run]));
  for (const run of runs) {
    const { results } = last.get(run.file);
    const passedNames = new Set(results.filter(({ error }) => error === undefined).map(({ name }) => name));
    for (const { name, error } of run === last.get(run.file) ? [] : run.results) {
      if (error !== undefined && passedNames.has(name)) summary.lines.push(`flaky: ${run.file}: ${name}`);
    }
  }
  const failures = [];
  for (const { file, results } of last.values()) {
    if (results.length === 0) failures.push(`  ${file}: could not run`);
    for (const { name, error } of results) {
      if (error === undefined) summary.passed++;
      else failures.push(`  ${file}: ${name}\n${errorText(error)}`);
    }
  }
  summary.failed = failures.length;
  if (failures.length > 0) summary.lines.push('Failed:', ...failures);
  return summary;
}
