/** Limits without which a test file that hangs would hang the whole run. */
import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import StalledFiles from '../support/stalled-files.mjs';

const LIMIT_MODULE = new URL('../support/file-limit.mjs', import.meta.url).href;

/** Runs a program that imports `limitFile`. */
function run(program: string) {
  const source = `const { limitFile } = await import(${JSON.stringify(LIMIT_MODULE)});\n${program}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8' });
}

test.each([
  ['an endless loop', 'for (;;);'],
  ['a promise that never settles', 'setInterval(() => undefined, 1000); await new Promise(() => undefined);'],
])('kills the process of a file with %s, and prints the name of the file', (_what, program) => {
  const { signal, stderr } = run(`limitFile('test/a.test.ts', 300); ${program}`);
  expect(signal).toBe('SIGKILL');
  expect(stderr).toBe('FAILED  test/a.test.ts: did not end within 0.005 minutes\n');
});

test('kills the processes that the file started', () => {
  const { stdout } = run(`
    const { spawn } = await import('node:child_process');
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
    process.stdout.write(String(child.pid));
    limitFile('test/a.test.ts', 300);
    for (;;);
  `);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(0);
  // A zombie remains if the first process of a container does not collect it.
  const { stdout: state } = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' });
  expect(state.trim()).toMatch(/^(Z.*)?$/);
});

test('a file that ends stops the time, and the thread does not hold the process', () => {
  const { status, signal, stderr } = run(`
    limitFile('test/a.test.ts', 300);
    limitFile(undefined);
    await new Promise(resolve => setTimeout(resolve, 1000));
  `);
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
});

test('ends the run with the names of files that have no result', async () => {
  const stalled = await new Promise<readonly string[]>(resolve => {
    const reporter = new StalledFiles(undefined, { maxMs: 50, end: resolve });
    for (const path of ['a', 'b', 'c']) reporter.onTestFileStart({ path });
    reporter.onTestFileResult({ path: 'b' });
  });
  expect(stalled).toEqual(['a', 'c']);
});
