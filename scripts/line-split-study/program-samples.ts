/** Logs of programs on this machine: each runs once, for a few seconds, in an empty folder. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entriesOf, linesOf, MAX_SAMPLE_BYTES, type Sample } from './samples.ts';
import { JAVA_TRACES, NODE_TRACES, PYTHON_TRACES } from './trace-programs.ts';

const TIMEOUT_MS = 60_000;
const REPOSITORY = new URL('../../', import.meta.url).pathname;

interface Program {
  readonly name: string;
  readonly sort: Sample['sort'];
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Start of a multi-line entry; without it, each line is an entry. */
  readonly entries?: RegExp;
}

function programs(folder: string): Program[] {
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const python = file('traces.py', PYTHON_TRACES);
  const node = file('traces.mjs', NODE_TRACES);
  return [
    { name: 'Java: virtual machine', sort: 'system', command: ['java', '-Xlog:all=debug', '-version'] },
    {
      name: 'Java: class loading',
      sort: 'system',
      command: ['java', '-Xlog:class*=info', '-Xshare:off', '-version'],
    },
    {
      name: 'Java: stack traces',
      sort: 'trace',
      command: ['java', file('Traces.java', JAVA_TRACES)],
      entries: /^[A-Z][a-z]{2} \d/,
    },
    { name: 'Python: stack traces', sort: 'trace', command: ['python3', python], entries: /^\d{4}-/ },
    { name: 'Python: JSON', sort: 'structured', command: ['python3', python, 'json'] },
    { name: 'Python: logfmt', sort: 'structured', command: ['python3', python, 'logfmt'] },
    {
      name: 'Python: imports',
      sort: 'tool',
      command: ['python3', '-v', '-c', 'import asyncio, email, unittest, xml.dom, http.server'],
    },
    { name: 'Node: stack traces', sort: 'trace', command: [process.execPath, node], entries: /^\[/ },
    {
      name: 'Node: NODE_DEBUG',
      sort: 'system',
      command: [process.execPath, node, 'http'],
      environment: { NODE_DEBUG: 'http,net,stream,timer' },
    },
    {
      name: 'Node: garbage collector',
      sort: 'system',
      command: [process.execPath, '--trace-gc', '--trace-gc-verbose', node],
    },
    {
      name: 'C library: loader',
      sort: 'system',
      command: ['git', '--version'],
      environment: { LD_DEBUG: 'all' },
    },
    { name: 'make: decisions', sort: 'tool', command: ['make', '-d', '-p', '-f', '/dev/null'] },
    { name: 'Go: build commands', sort: 'tool', command: ['go', 'build', '-n', '-a', 'std'] },
    {
      name: 'Go: JSON of packages',
      sort: 'structured',
      command: ['go', 'list', '-json=ImportPath,Dir,GoFiles,Imports', '-compiled=false', 'std'],
    },
    {
      name: 'strace of git',
      sort: 'system',
      command: ['strace', '-f', '-tt', 'git', '-C', REPOSITORY, 'status'],
    },
    {
      name: 'npm: list, silly',
      sort: 'tool',
      command: ['npm', 'ls', '--all', '--loglevel', 'silly', '--prefix', REPOSITORY],
    },
    { name: 'journal', sort: 'system', command: ['journalctl', '--no-pager', '-n', '50000'] },
    {
      name: 'git log with names of files',
      sort: 'tool',
      command: ['git', '-C', REPOSITORY, 'log', '--name-status', '-n', '1000'],
    },
    {
      name: 'TypeScript: files',
      sort: 'tool',
      command: [
        process.execPath,
        join(REPOSITORY, 'node_modules/typescript/bin/tsc'),
        '--project',
        REPOSITORY,
        '--listFilesOnly',
      ],
    },
  ];
}

export function programSamples(): Sample[] {
  const folder = mkdtempSync(join(tmpdir(), 'line-split-'));
  try {
    return programs(folder).map(program => {
      const text = outputOf(program, folder);
      const lines = program.entries === undefined ? linesOf(text) : entriesOf(text, program.entries);
      return { name: program.name, sort: program.sort, lines };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Both outputs; empty if the program is missing. */
function outputOf({ command, environment }: Program, folder: string): Buffer {
  const [name, ...parameters] = command;
  const { stdout, stderr } = spawnSync(name, parameters, {
    cwd: folder,
    env: { ...process.env, ...environment },
    maxBuffer: 8 * MAX_SAMPLE_BYTES,
    timeout: TIMEOUT_MS,
  });
  return Buffer.concat([stdout ?? Buffer.alloc(0), stderr ?? Buffer.alloc(0)]);
}
