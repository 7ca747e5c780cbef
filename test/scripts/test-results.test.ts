/** Results of test files of which some ran again. */
import { expect, test } from '@jest/globals';
import report from '../../scripts/results-reporter.mjs';
import { hasFailed, resultsOf, summaryOf } from '../../scripts/test-results.mjs';

test('results are read as the reporter writes them, with the error that a test threw', async () => {
  const thrown = new Error('not there\nyet');
  const events = [
    { type: 'test:start', data: { name: 'one' } },
    { type: 'test:pass', data: { name: 'one' } },
    { type: 'test:fail', data: { name: 'two', details: { error: new Error('wrapped', { cause: thrown }) } } },
    {
      type: 'test:fail',
      data: { name: 'three', details: { error: new Error('bare', { cause: 'timeout' }) } },
    },
  ];
  let text = '';
  for await (const line of report(events)) text += line;
  expect(resultsOf(text)).toEqual([
    { name: 'one' },
    { name: 'two', error: thrown.stack },
    { name: 'three', error: 'timeout' },
  ]);
});

test('a file failed if one of its tests failed, or if it has none', () => {
  expect(hasFailed({ file: 'a', results: [{ name: 'one' }] })).toBe(false);
  expect(hasFailed({ file: 'a', results: [{ name: 'one' }, { name: 'two', error: 'no' }] })).toBe(true);
  expect(hasFailed({ file: 'a', results: [] })).toBe(true);
});

test('the last run of a file counts, and tests that passed only then are named', () => {
  const summary = summaryOf([
    { file: 'a', results: [{ name: 'one' }] },
    { file: 'b', results: [{ name: 'one', error: 'late' }, { name: 'two', error: 'no' }, { name: 'three' }] },
    { file: 'c', results: [] },
    {
      file: 'b',
      results: [{ name: 'one' }, { name: 'two', error: 'still no\nat line 1' }, { name: 'three' }],
    },
    { file: 'c', results: [] },
  ]);
  expect(summary).toEqual({
    passed: 3,
    failed: 2,
    lines: ['flaky: b: one', 'Failed:', '  b: two\n    still no\n    at line 1', '  c: could not run'],
  });
});

test('without failures there is nothing to describe', () => {
  expect(summaryOf([{ file: 'a', results: [{ name: 'one' }] }])).toEqual({ passed: 1, failed: 0, lines: [] });
});

test('a long error is cut', () => {
  const error = Array.from({ length: 1000 }, (_, i) => `line ${i}`).join('\n');
  const { lines } = summaryOf([{ file: 'a', results: [{ name: 'one', error }] }]);
  expect(lines[1].split('\n').slice(0, 3)).toEqual(['  a: one', '    line 0', '    line 1']);
  expect(lines[1].split('\n').length).toBeLessThan(40);
  const wide = summaryOf([{ file: 'a', results: [{ name: 'one', error: 'x'.repeat(100_000) }] }]);
  expect(wide.lines[1].length).toBeLessThan(3000);
});
