/** Completion of labels and their values from the store: the words, and shells that insert them on a terminal. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { escapedWord, shellWords } from '../../bin/cli/completion/shell-line.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { CACHE, PROGRAM } from '../support/program.ts';
import { logboom } from './run-command.ts';
import { hasTmux, Terminal } from './tmux.ts';

let store: TestStore;
const folder = mkdtempSync(join(tmpdir(), 'logboom-completion-'));

beforeAll(async () => {
  store = await startStore('auth_enabled: true\n');
  const streams = [
    { app: 'shop', env: 'prod' },
    { app: 'shed', env: 'prod', region: "it's" },
  ].map(stream => ({ stream, values: [[`${Date.now()}000000`, 'line']] }));
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': 'team' },
    body: JSON.stringify({ streams }),
  });
  expect(status).toBe(204);
});

afterAll(async () => {
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('words of a command line', () => {
  test.each([
    ['', [['', '']]],
    [
      'a b',
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    [
      'a  ',
      [
        ['a', ''],
        ['', ''],
      ],
    ],
    [
      `q '{a="b c`,
      [
        ['q', ''],
        ['{a="b c', "'"],
      ],
    ],
    [
      `q "{a=\\"b\\n`,
      [
        ['q', ''],
        ['{a="b\\n', '"'],
      ],
    ],
    [
      `q 'it'\\''s' x`,
      [
        ['q', ''],
        ["it's", ''],
        ['x', ''],
      ],
    ],
    [
      `q ''`,
      [
        ['q', ''],
        ['', ''],
      ],
    ],
    ['a\\ b', [['a b', '']]],
  ])('%j', (line, want) => {
    expect(shellWords(line).map(({ text, quote }) => [text, quote])).toEqual(want);
  });

  test.each([
    [`it's "x"`, "'", `it'\\''s "x"`],
    ['a"b\\$`', '"', 'a\\"b\\\\\\$\\`'],
    [`it's`, '', `it's`],
  ] as const)('%j behind %s', (text, quote, want) => {
    expect(escapedWord(text, quote)).toBe(want);
  });
});

/** A loaded machine takes longer than the two seconds that a person waits. */
const PATIENT = ['--timeout', '60000'];

describe('logboom complete-words', () => {
  const words = async (line: string, ...options: readonly string[]) => {
    const { code, stdout, stderr } = await logboom(['complete-words', ...PATIENT, ...options, '--', line]);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.split('\n').slice(0, -1);
  };
  const asked = (rest: string) => `logboom query --addr ${store.url} --tenant team ${rest}`;

  test.each([
    ["'{", ['{app=', '{env=', '{region=', '{service_name=']],
    ["'{ap", ['{app="shed"}', '{app="shop"}']],
    ['\'{app="sh', ['{app="shed"}', '{app="shop"}']],
    ['\'{app="shop", en', ['{app="shop", env="prod"}']],
    ['\'{app=~"sho', ['{app=~"shop"}']],
    ['\'{app="shop"} |= "', []],
    ['\'{app="x', []],
    ['{ap', []],
    ['--limit 5 \'{app="sho', ['{app="shop"}']],
  ])('completes in a query: %s', async (rest, want) => {
    expect(await words(asked(rest))).toEqual(want);
  });

  test('completes names of labels, and after options before the command', async () => {
    const options = `--addr ${store.url} --tenant team`;
    expect(await words(`logboom labels ${options} e`)).toEqual(['env']);
    expect(await words(`logboom volume '{}' ${options} --target-labels app,e`)).toEqual(['app,env']);
    expect(await words(`logboom ${options} query '{env="p`)).toEqual(['{env="prod"}']);
    expect(await words(`logboom labels ${options} --query '{env="p`)).toEqual(['{env="prod"}']);
  });

  test('escapes what the open quote needs', async () => {
    expect(await words(asked('\'{region="'), '--raw')).toEqual(["{region=\"it'\\''s\"}"]);
    expect(await words(asked('"{app=\\"sho'), '--raw')).toEqual(['{app=\\"shop\\"}']);
  });

  test('prints nothing if the store cannot be reached', async () => {
    expect(await words("logboom query --addr http://127.0.0.1:1 '{")).toEqual([]);
    expect(await words(`logboom query --addr ${store.url} --since x '{`)).toEqual([]);
    expect(await words('logboom nonsense x')).toEqual([]);
  });
});

interface ShellCommands {
  /** Starts the shell without the user's files. */
  readonly command: string;
  /** Text of its first prompt, for a shell that loses keys before it. */
  readonly prompt?: string;
  /** Loads the completion. */
  readonly load: string;
}

const SHELLS: Readonly<Record<string, ShellCommands>> = {
  bash: {
    prompt: 'ready>',
    command: 'bash --norc --noprofile -c \'PS1="ready> " exec bash --norc --noprofile -i\'',
    load: 'eval "$(logboom completion bash)"',
  },
  zsh: {
    command: 'zsh -f',
    load: 'PS1="ready> "; autoload -U compinit; compinit -u; source <(logboom completion zsh)',
  },
  fish: {
    command: 'fish --no-config',
    load: 'function fish_prompt; echo "ready> "; end; logboom completion fish | source',
  },
};

describe.each(Object.entries(SHELLS))('%s on a terminal', (shell, { command, prompt, load }) => {
  const isThere = hasTmux && spawnSync(shell, ['--version']).status === 0;
  if (!isThere) console.warn(`tmux or ${shell} is not installed: its completion is not tested on a terminal`);
  const terminal = new Terminal();
  afterAll(() => terminal.end());

  (isThere ? test : test.skip)('completes names and values of labels', async () => {
    const program = join(folder, 'logboom');
    const patient = `[ "$1" = complete-words ] && shift && set -- complete-words ${PATIENT.join(' ')} "$@"`;
    writeFileSync(program, `#!/bin/sh\n${patient}\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    chmodSync(program, 0o755);
    terminal.start(100, 24, command, {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      NODE_COMPILE_CACHE: CACHE,
      LOGBOOM_ADDR: store.url,
      LOGBOOM_TENANT: 'team',
    });
    if (prompt !== undefined) await terminal.screenWith(prompt);
    terminal.type(
      `${load}; echo loaded-$((40+2))`.replace('$((40+2))', shell === 'fish' ? '(math 40+2)' : '$((40+2))'),
    );
    terminal.keys('Enter');
    await terminal.screenWith('loaded-42');
    terminal.type("logboom query '{ap");
    terminal.keys('Tab');
    await terminal.screenWith('\'{app="sh');
    terminal.type('o');
    terminal.keys('Tab');
    await terminal.screenWith('\'{app="shop"}');
    terminal.keys('C-c');
    terminal.type('logboom labels en');
    terminal.keys('Tab');
    await terminal.screenWith('labels env');
  });
});
