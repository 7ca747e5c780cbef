/** The tree of commands: help, exit codes, settings of the environment, completion. */
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { bashCompletion } from '../../bin/cli/completion/bash.ts';
import { fishCompletion } from '../../bin/cli/completion/fish.ts';
import { wordsOf } from '../../bin/cli/completion/words.ts';
import { zshCompletion } from '../../bin/cli/completion/zsh.ts';
import { createProgram } from '../../bin/cli/program.ts';
import { addStoreOptions, type StoreFlags, storeHeaders } from '../../bin/cli/store-client.ts';
import { logboom } from './run-command.ts';

function commandsOf(command: Command): Command[] {
  return command.commands.flatMap(each => [each, ...commandsOf(each)]);
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: part => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

test('the help of every command ends with at least two examples', async () => {
  const program = await createProgram();
  const commands = commandsOf(program).filter(command => command.name() !== 'help');
  const lacking = [program, ...commands].filter(
    command => !/\nExamples:\n( {2}\S.*\n){2,}$/.test(helpOf(command)),
  );
  expect(commands.length).toBeGreaterThan(40);
  expect(lacking.map(command => command.name())).toEqual([]);
});

test('the help of every command shows defaults as users write them', async () => {
  const program = await createProgram();
  const written = [program, ...commandsOf(program)].flatMap(command =>
    [...helpOf(command).matchAll(/\(default:\s+(?:\[|\{|""|false|undefined|null)[^)]*\)/g)].map(
      ([text]) => `${command.name()}: ${text}`,
    ),
  );
  expect(written).toEqual([]);
});

test('a command refuses to run without a required option that can be repeated', async () => {
  const { code, stderr } = await logboom(['token', 'create', '--name', 'agents', '--scope', 'logs:write']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "error: required option '--tenant <name>' not specified\n(see --help)\n",
  });
});

test('--help lists all commands without loading them', async () => {
  expect(helpOf(await createProgram('--help'))).toBe(helpOf(await createProgram()));
});

test('exits with 0 for help and version, and with 2 for usage errors', async () => {
  const outcomes = await Promise.all([
    logboom(['--help']),
    logboom(['--version']),
    logboom(['query']),
    logboom(['nonsense']),
  ]);
  expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 2, 2]);
  expect(outcomes[1].stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(outcomes[2].stderr).toBe("error: missing required argument 'query'\n(see --help)\n");
});

describe('settings of the environment', () => {
  let before: NodeJS.ProcessEnv;
  beforeEach(() => {
    before = { ...process.env };
  });
  afterEach(() => {
    process.env = before;
  });

  function headersWith(environment: Record<string, string>, args: string[] = []): Record<string, string> {
    process.env = { ...without(before), ...environment };
    const command = addStoreOptions(new Command('x')).exitOverride();
    command.parse(args, { from: 'user' });
    const { 'user-agent': _, ...headers } = storeHeaders(command.opts<StoreFlags>());
    return { addr: command.opts<StoreFlags>().addr.href, ...headers };
  }

  /** Variables of the user that runs the tests. */
  function without(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(LOKI|LOGBOOM)_/.test(name)));
  }

  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  test.each<[string, Record<string, string>, string[], Record<string, string>]>([
    ['none', {}, [], { addr: 'http://localhost:3100/' }],
    [
      "logcli's",
      { LOKI_ADDR: 'https://logs.example', LOKI_ORG_ID: 'acme', LOKI_QUERY_TAGS: 'Source=cli' },
      [],
      { addr: 'https://logs.example/', 'x-scope-orgid': 'acme', 'x-query-tags': 'Source=cli' },
    ],
    [
      'ours win',
      { LOKI_ADDR: 'http://a', LOGBOOM_ADDR: 'http://b', LOKI_ORG_ID: 'a', LOGBOOM_TENANT: 'b' },
      [],
      { addr: 'http://b/', 'x-scope-orgid': 'b' },
    ],
    [
      'an option wins over both, an empty variable is none',
      { LOKI_ADDR: 'http://a', LOGBOOM_ADDR: '', LOKI_ORG_ID: 'a' },
      ['--tenant', 'c'],
      { addr: 'http://a/', 'x-scope-orgid': 'c' },
    ],
    [
      'a login',
      { LOKI_USERNAME: 'me', LOKI_PASSWORD: 'pä:ss' },
      [],
      { addr: 'http://localhost:3100/', authorization: basic('me:pä:ss') },
    ],
    [
      'a login in the address',
      { LOKI_ADDR: 'http://me:p%40ss@host' },
      [],
      { addr: 'http://me:p%40ss@host/', authorization: basic('me:p@ss') },
    ],
    [
      'a token, in another header',
      { LOKI_BEARER_TOKEN: 'abc', LOKI_AUTH_HEADER: 'X-Auth' },
      [],
      { addr: 'http://localhost:3100/', 'x-auth': 'Bearer abc' },
    ],
    [
      'a token in a file',
      { LOKI_BEARER_TOKEN_FILE: new URL('fixtures/token.txt', import.meta.url).pathname },
      [],
      { addr: 'http://localhost:3100/', authorization: 'Bearer from-a-file' },
    ],
  ])('%s', (_, environment, args, want) => {
    expect(headersWith(environment, args)).toEqual(want);
  });

  test('refuse a token together with a user name; skip certificates only if the value is true', () => {
    expect(() => headersWith({ LOKI_USERNAME: 'me', LOKI_BEARER_TOKEN: 'abc' })).toThrow(
      'give either an access token',
    );
    for (const [value, want] of [
      ['true', true],
      ['1', true],
      ['false', false],
    ] as const) {
      process.env = { ...without(before), LOKI_TLS_SKIP_VERIFY: value };
      const command = addStoreOptions(new Command('x'));
      command.parse([], { from: 'user' });
      expect(command.opts<StoreFlags>().tlsSkipVerify ?? false).toBe(want);
    }
  });
});

describe('completion', () => {
  test('bash completes commands, options, values and files', async () => {
    const script = bashCompletion(wordsOf(await createProgram()));
    const rows: [string[], string][] = [
      [['logboom', 'pu'], 'push'],
      [['logboom', 'rules', 'l'], 'lint load list'],
      [['logboom', 'rules', 'load', '--pru'], '--prune'],
      [['logboom', 'query', '--limit', '5', '--out'], '--output --output-timestamp-format'],
      [['logboom', 'query', '{a="b"}', '--output', 'c'], 'csv chart'],
      [['logboom', 'query', '--addr', 'push', '--dire'], '--direction'],
      [['logboom', 'instant-query', '--output', 'ta'], 'table'],
      [['logboom', 'query', '--limit', ''], ''],
      [['logboom', 'completion', 'z'], 'zsh'],
      [['logboom', 'start', '--config', '/et'], '/etc'],
    ];
    const asked = rows.map(
      ([words]) =>
        `COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _logboom; echo "\${COMPREPLY[*]}"`,
    );
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', `${script}\n${asked.join('\n')}`], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, -1)).toEqual(rows.map(([, want]) => want));
  });

  test('zsh and fish have every command with its text, and balanced quotes', async () => {
    const words = wordsOf(await createProgram());
    for (const { path, text } of words.filter(each => each.path !== '' && !each.path.includes(' '))) {
      expect(zshCompletion(words)).toContain(`'${path}:${text.replaceAll("'", "'\\''")}'`);
      expect(fishCompletion(words)).toContain(`-a '${path}' -d '${text.replaceAll("'", "\\'")}'`);
    }
    const { status, stderr } = spawnSync('bash', ['-n', '-c', fishQuotes(fishCompletion(words))], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});

/** Splits a line into words. Fish quotes like bash, except for some escapes. */
function fishQuotes(script: string): string {
  const lines = script.split('\n').filter(line => line.startsWith('complete '));
  return lines.map(line => line.replaceAll("\\'", '')).join('\n');
}
