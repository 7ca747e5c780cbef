import { expect, test } from '@jest/globals';
import { countOf, crashedFiles, type JestReport } from '../../scripts/jest-report.mjs';

const passed = (fullName: string) => ({ status: 'passed', fullName });
const failed = (fullName: string) => ({ status: 'failed', fullName });
const ended = (name: string, signal: string) => ({
  name,
  status: 'failed',
  message: `A jest worker process (pid=1) was terminated by another process: signal=${signal}, exitCode=null.`,
  assertionResults: [],
});
const reportOf = (...testResults: JestReport['testResults'][number][]): JestReport => ({ testResults });

test('a file under which Node crashed runs again; a killed one, a failed one and a broken one do not', () => {
  const report = reportOf(
    ended('/r/a', 'SIGSEGV'),
    ended('/r/b', 'SIGKILL'),
    {
      name: '/r/c',
      status: 'failed',
      message: 'signal=SIGSEGV was expected',
      assertionResults: [failed('it')],
    },
    { name: '/r/d', status: 'failed', message: 'Cannot find module', assertionResults: [] },
    { name: '/r/e', status: 'passed', message: '', assertionResults: [passed('one')] },
  );
  expect(crashedFiles(report)).toEqual(['/r/a']);
});

test('where many crash none runs again', () => {
  expect(crashedFiles(reportOf(...['a', 'b', 'c'].map(name => ended(name, 'SIGSEGV'))))).toEqual([]);
});

test('counts tests, and files that could not run, but for those of another run', () => {
  const report = reportOf(ended('/r/a', 'SIGSEGV'), ended('/r/b', 'SIGSEGV'), {
    name: '/r/test/c',
    status: 'failed',
    message: '',
    assertionResults: [
      passed('one'),
      failed('two'),
      { status: 'pending', fullName: 'three' },
      passed('four'),
    ],
  });
  expect(countOf(report, '/r', ['/r/a'])).toEqual({
    passed: 2,
    failed: 2,
    skipped: 1,
    failures: ['b: could not run', 'test/c: two'],
  });
});
