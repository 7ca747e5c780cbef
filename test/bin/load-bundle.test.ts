import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const LOADER = new URL('../../bin/load-bundle.cjs', import.meta.url).pathname;
const CODE =
  'const answer = () => "first"; exports.answer = answer; console.log(answer(), require("node:path").sep);';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'logboom-load-'));
  copyFileSync(LOADER, join(folder, 'load-bundle.cjs'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('compiled code of the bundle', () => {
  test('is written at the end of the first run and used by the next', () => {
    write(CODE, 'one');
    expect(run()).toBe('first /\n');
    const [name] = saved();
    expect(name).toMatch(/^program\.js-[0-9a-f]+-one$/);
    const compiled = readFileSync(join(folder, 'cache/code', name));
    // The function was compiled after the file was loaded. It does not come from this source, which has the same length.
    write(CODE.replace('first', 'other'), 'one');
    expect(run()).toBe('first /\n');
    expect(readFileSync(join(folder, 'cache/code', name))).toEqual(compiled);
  });

  test('is replaced for other code', () => {
    write(CODE, 'one');
    run();
    write(CODE.replace('first', 'other'), 'two');
    expect(run()).toBe('other /\n');
    expect(saved().map(name => name.split('-').at(-1))).toEqual(['two']);
  });

  test('is written again if it was damaged', () => {
    write(CODE, 'one');
    run();
    const file = join(folder, 'cache/code', saved()[0]);
    const compiled = readFileSync(file);
    writeFileSync(file, compiled.subarray(0, 100));
    expect(run()).toBe('first /\n');
    expect(readFileSync(file)).toHaveLength(compiled.length);
  });

  test('is separate for each command that the launcher names', () => {
    write(CODE, 'one');
    run();
    for (const command of ['.labels', '.query']) {
      const named = `globalThis[Symbol.for('logboom.command')] = '${command}';`;
      writeFileSync(join(folder, 'command.cjs'), named);
      expect(run({ NODE_OPTIONS: `--require ${join(folder, 'command.cjs')}` })).toBe('first /\n');
    }
    expect(saved().map(name => name.split('-')[0])).toEqual([
      'program.js',
      'program.js.labels',
      'program.js.query',
    ]);
  });

  test('is written before the end if the program says so', () => {
    const save = "globalThis[Symbol.for('logboom.saveCompiledCode')]();";
    write(`${CODE} ${save} process.kill(process.pid, 'SIGKILL');`, 'one');
    expect(run()).toBe('first /\n');
    expect(saved()).toHaveLength(1);
  });

  test.each([
    ['has no folder', { NODE_COMPILE_CACHE: undefined }],
    ['is off', { NODE_DISABLE_COMPILE_CACHE: '1' }],
    ['cannot be written', { NODE_COMPILE_CACHE: '/dev/null' }],
  ])('is not needed: the cache of Node.js %s', (_, env) => {
    write(CODE, 'one');
    expect(run(env)).toBe('first /\n');
    expect(existsSync(join(folder, 'cache'))).toBe(false);
  });
});

function write(code: string, checksum: string): void {
  writeFileSync(join(folder, 'program.js'), code);
  const stub = `require('./load-bundle.cjs').loadBeside(module, require, '${checksum}');`;
  writeFileSync(join(folder, 'program.cjs'), stub);
}

/** Standard output of the program. */
function run(env: NodeJS.ProcessEnv = {}): string {
  const { NODE_DISABLE_COMPILE_CACHE: _, ...inherited } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'program.cjs')], {
    encoding: 'utf8',
    env: { ...inherited, NODE_COMPILE_CACHE: join(folder, 'cache'), ...env },
  });
  expect(stderr).toBe('');
  return stdout;
}

function saved(): string[] {
  return readdirSync(join(folder, 'cache/code')).sort();
}
