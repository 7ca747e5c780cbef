import { expect, test } from '@jest/globals';
import { countOf } from '../../scripts/jest-report.mjs';

test('counts tests; a file that could not run or that crashed counts as one failure', () => {
  const message =
    'A jest worker process (pid=1) was terminated by another process: signal=SIGSEGV, exitCode=null.';
  const testResults = [
    { name: '/r/a', status: 'failed', message, assertionResults: [] },
    {
      name: '/r/test/b',
      status: 'failed',
      message: '',
      assertionResults: [
        { status: 'passed', fullName: 'one', failureMessages: [] },
        { status: 'failed', fullName: 'two', failureMessages: ['Error: not so\nat line 2'] },
        { status: 'pending', fullName: 'three', failureMessages: [] },
        { status: 'passed', fullName: 'four', failureMessages: [] },
      ],
    },
  ];
  expect(countOf({ testResults }, '/r')).toEqual({
    passed: 2,
    failed: 2,
    skipped: 1,
    failures: ['a: could not run', 'test/b: two\n    Error: not so\n    at line 2'],
  });
});
