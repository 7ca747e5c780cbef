import { spawnSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const CHILD = join(import.meta.dirname, 'low-thread.mjs');
const own = getPriority();

interface Values {
  readonly ofProcess: number;
  readonly ofThread: number;
  /** Whether the system lets a thread raise its priority again. */
  readonly isRaised: boolean;
  readonly raised: number;
}

/** Nice values of a process that was started with `added` to that of this one. */
function valuesUnder(added: number): Values {
  const args = ['-n', String(added), process.execPath, '--disable-warning=ExperimentalWarning', CHILD];
  const { stdout, stderr } = spawnSync('nice', args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const onLinux = process.platform === 'linux' ? test : test.skip;
// The main thread of a low-priority process must still precede its other threads.
onLinux.each([0, 3, 12, 15, 19])('under nice %i a low thread stands behind the main thread', added => {
  const { ofProcess, ofThread, isRaised, raised } = valuesUnder(added);
  expect(ofProcess).toBe(Math.min(19, own + added));
  expect(ofThread).toBe(Math.min(19, ofProcess + 10));
  expect(raised).toBe(isRaised ? ofProcess : ofThread);
});
