/**
 * Each command that prints text of clients removes terminal control sequences on a terminal, and prints the
 * bytes unchanged to a pipe. The store here returns such text in every response field.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import fc from 'fast-check';
import { WebSocketServer } from 'ws';
import { createProgram } from '../../bin/cli/program.ts';
import { openStorage } from '../../local/storage.ts';
import { visible, visibleLines } from '../../shared/base/model/visible-text.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { pushOf } from '../support/pushes.ts';
import type { CommandOutput, ManyCommands } from './many-commands.ts';
import { type Reply, startRecordingStore } from './recording-store.ts';

/** A cursor that moves, a title, C1, a turn of direction, a carriage return, markup. */
const HOSTILE =
  'a\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp.exe\u2066\u200f\rb<script>x</script>\u2028é';
const SHOWN =
  'a\\x1b[2J\\x1b]0;owned\\x07\\u009b31m\\u202egnp.exe\\u2066\\u200f\\rb<script>x</script>\\u2028é';
/** The same text, written without the code of this module. */
const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u;
/** Colors and the clearing of a line that the program itself writes. */
const OWN = /\r?\u001b\[(?:34|36|39|K)m?/g;

const NS = `${BigInt(Date.now() - 60_000) * 1_000_000n}`;
const LINE = `${HOSTILE}\nsecond line`;
const LABELS = { app: HOSTILE, [`n${HOSTILE}`]: 'v' };
const RULES = [
  `${JSON.stringify(HOSTILE)}:`,
  `  - {name: ${JSON.stringify(HOSTILE)}, rules: [{record: r, expr: '1', labels: {a: ${JSON.stringify(HOSTILE)}}}]}`,
  '',
].join('\n');
const REQUEST = {
  request_id: 'one',
  start_time: 1,
  end_time: 2,
  query: `{a="b"} |= \`${HOSTILE}\``,
  status: HOSTILE,
  created_at: 1,
};
const data = (value: unknown, more: object = {}): Reply => ({
  status: 200,
  body: JSON.stringify({ status: 'success', data: value, ...more }),
});
const matrix = {
  resultType: 'matrix',
  result: [
    {
      metric: LABELS,
      values: [
        [1, '1'],
        [2, '2'],
      ],
    },
  ],
};
const vector = { resultType: 'vector', result: [{ metric: LABELS, value: [1, '1'] }] };
const streams = {
  resultType: 'streams',
  result: [
    { stream: LABELS, values: [[NS, LINE]] },
    { stream: { app: 'other', [HOSTILE]: HOSTILE }, values: [[NS, 'plain']] },
  ],
  explain: { [HOSTILE]: { [HOSTILE]: 1 } },
};
const ANSWERS: Readonly<Record<string, Reply>> = {
  '/loki/api/v1/query_range': data(streams, { warnings: [HOSTILE] }),
  '/metric/loki/api/v1/query_range': data(matrix),
  '/loki/api/v1/query': data(vector),
  '/loki/api/v1/labels': data([HOSTILE]),
  '/loki/api/v1/label/app/values': data([HOSTILE]),
  '/loki/api/v1/series': data([LABELS]),
  '/loki/api/v1/index/stats': data(null, { streams: 1, chunks: 1, entries: 1, bytes: HOSTILE }),
  '/loki/api/v1/index/volume': data(vector),
  '/loki/api/v1/index/volume_range': data(matrix),
  '/loki/api/v1/patterns': data([{ pattern: HOSTILE, level: HOSTILE, samples: [[1, 1]] }]),
  '/loki/api/v1/detected_fields': {
    status: 200,
    body: JSON.stringify({ fields: [{ label: HOSTILE, type: HOSTILE, cardinality: 1, parsers: [HOSTILE] }] }),
  },
  '/loki/api/v1/delete': { status: 200, body: JSON.stringify([REQUEST]) },
  '/made/loki/api/v1/delete': { status: 204, headers: { 'x-delete-request-id': 'one\u0085two' } },
  '/loki/api/v1/status/deletes': {
    status: 200,
    body: JSON.stringify([{ ...REQUEST, parts: HOSTILE, parts_done: 1, picked_up_at: 1, processed_at: 2 }]),
  },
  '/loki/api/v1/rules': { status: 200, body: RULES },
  '/loki/api/v1/tokens': data([
    {
      ...{ id: HOSTILE, name: HOSTILE, scopes: [HOSTILE], tenants: [HOSTILE], state: HOSTILE },
      ...{ created: '2026-01-01', expires: null, revoked: null, last_used: null, token: HOSTILE },
    },
  ]),
  '/made/loki/api/v1/tokens': data({
    ...{ id: HOSTILE, name: HOSTILE, scopes: [], tenants: [], state: 'active', token: HOSTILE },
    ...{ created: '2026-01-01', expires: HOSTILE, revoked: null, last_used: null },
  }),
  '/loki/api/v1/push': { status: 204 },
};

const folder = mkdtempSync(join(tmpdir(), 'logboom-terminal-'));
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const ruleFile = fileOf(`odd\u001b[2J.yaml`, `groups:\n${RULES.slice(RULES.indexOf('\n') + 1)}`);
const brokenFile = fileOf('broken.yaml', `groups:\n  - {name: ${JSON.stringify(HOSTILE)}, rules: [{}]}\n`);
const testFile = fileOf(
  'test.yaml',
  JSON.stringify({
    rule_files: ['broken.yaml'],
    tests: [],
  }),
);
const configFile = fileOf(
  'config.yaml',
  `${JSON.stringify(HOSTILE)}: 1\nlimits_config: {x: ${JSON.stringify(HOSTILE)}}\n`,
);
const logFile = fileOf('a.log', 'a line\n');
const jsonFile = fileOf(
  `b\u001b[2J.jsonl`,
  `${JSON.stringify({ time: '2026-01-05T10:00:00Z', a: HOSTILE })}\n${HOSTILE}\n`,
);

let at: Readonly<Record<'store' | 'metric' | 'made' | 'refusing' | 'tail', string>>;
let chunk: string;
let stopAll = async () => {};

beforeAll(async () => {
  const store = await startRecordingStore(({ path, method }) =>
    method === 'DELETE'
      ? {
          status: path.includes('/rules') ? 202 : path.includes('/tokens') ? 200 : 204,
          body: ANSWERS['/loki/api/v1/tokens'].body!.replace('[{', '{').replace('}]', '}'),
        }
      : (ANSWERS[path] ?? { status: 400, body: `refused: ${HOSTILE}` }),
  );
  const tails = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  tails.on('connection', socket => {
    socket.send(JSON.stringify({ streams: streams.result }));
    socket.close(1011, 'Code(400) a\u001b[2J\u202eb');
  });
  await new Promise(resolve => tails.once('listening', resolve));
  const { port } = tails.address() as { port: number };
  at = {
    store: store.url,
    metric: `${store.url}/metric`,
    made: `${store.url}/made`,
    refusing: `${store.url}/refusing`,
    tail: `http://127.0.0.1:${port}`,
  };
  chunk = await writeChunk();
  stopAll = async () => {
    tails.close();
    await store.stop();
  };
});
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

async function writeChunk(): Promise<string> {
  const dataDir = join(folder, 'data');
  const { store, table, close } = await openStorage({ kind: 'embedded', dataDir });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  const entry = {
    stream: { app: HOSTILE },
    day: 20_000,
    time: 0,
    line: LINE,
    metadata: { [HOSTILE]: HOSTILE },
  };
  await committer.commit('t', pushOf([entry]));
  await close();
  const objects = readdirSync(join(dataDir, 'objects'), { recursive: true, withFileTypes: true });
  const { parentPath, name } = objects.find(each => each.isFile())!;
  return join(parentPath, name);
}

function run(input: ManyCommands): Promise<CommandOutput[]> {
  const program = join(import.meta.dirname, 'many-commands.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(input));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', part => (text += part));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`ended with ${code}`)),
    );
  });
}

const TABLES = ['default', 'raw', 'jsonl', 'table', 'csv'];
const ENTRIES = TABLES;
const METRICS = [...TABLES, 'chart'];

/** Every command that prints texts of a store or a file, in each output format. */
function commandsThatTell(): string[][] {
  const asking = (args: string[], addr = at.store) => [...args, '--addr', addr];
  const inEach = (outputs: readonly string[], args: string[], addr?: string) =>
    outputs.map(output => asking([...args, '--output', output], addr));
  return [
    ...inEach(ENTRIES, ['query', '{a="b"}', '--explain', '--limit', '2']),
    ...inEach(METRICS, ['query', 'rate({a="b"}[1m])'], at.metric),
    ...inEach(METRICS, ['query', 'rate({a="b"}[1m])', '--instant']),
    ...inEach(METRICS, ['instant', 'rate({a="b"}[1m])']),
    ...inEach(ENTRIES, ['tail', '{a="b"}'], at.tail),
    ...inEach(TABLES, ['labels']),
    ...inEach(TABLES, ['labels', 'app']),
    ...inEach(TABLES, ['series']),
    ...inEach(TABLES, ['series', '--analyze-labels']),
    ...inEach(TABLES, ['stats', '{}']),
    ...inEach(METRICS, ['volume', '{}']),
    ...inEach(METRICS, ['volume-range', '{}']),
    ...inEach(TABLES, ['patterns', '{a="b"}']),
    ...inEach(TABLES, ['detected-fields', '{a="b"}']),
    ...inEach(['default', 'jsonl', 'table', 'csv'], ['delete', 'list']),
    asking(['delete', 'watch', 'one']),
    asking(['delete', 'create', '{a="b"}', '--from', '1'], at.made),
    asking(['delete', 'cancel', `x${HOSTILE}`]),
    asking(['rules', 'list']),
    asking(['rules', 'diff', ruleFile, '--prune']),
    asking(['rules', 'delete', HOSTILE]),
    asking(['rules', 'load', ruleFile]),
    ['rules', 'lint', brokenFile],
    ['rules', 'test', testFile],
    ...inEach(['default', 'json'], ['token', 'list']),
    ...inEach(['default', 'json'], ['token', 'revoke', 'x']),
    ...inEach(
      ['default', 'json'],
      ['token', 'create', '--name', 'n', '--tenant', 't', '--scope', 'logs:read'],
      at.made,
    ),
    ['inspect', chunk],
    ['inspect', chunk, '--json'],
    ['inspect', chunk, '--page', '0'],
    ['inspect', chunk, '--page', '0', '--json'],
    ['doctor', '--data-dir', join(folder, HOSTILE.replaceAll('/', ''))],
    ['config', 'check', configFile],
    ['tenant', 'move', HOSTILE, 'b', '--data-dir', join(folder, 'data')],
    asking(['push', logFile, '--label', `app=${HOSTILE}`]),
    asking(['push', logFile, '--label', 'app=a'], at.refusing),
    asking(['push', jsonFile, '--dry-run', '--label-field', 'a', '--metadata-field', 'm=a']),
    asking(['push', jsonFile, '--label-field', 'a']),
    ...['text', 'jsonl', 'csv'].map(format => asking(['export', '{a="b"}', '--format', format])),
    asking(['migrate', 'loki', '--from', at.store, '--since', '1h', '--state', join(folder, 'state')]),
    asking(['query', '{a="b"}'], at.refusing),
    asking(['rules', 'list'], at.refusing),
    asking(['delete', 'list'], at.refusing),
    asking(['labels'], at.refusing),
    asking(['tail', '{a="b"}'], at.refusing),
  ];
}

/**
 * These print only texts of the program, or a price, or write to a program or a shell. `view` has separate
 * tests.
 */
const CONTEXTS = ['set', 'use', 'list', 'show', 'delete'].map(name => `context ${name}`);
const TELL_NOTHING = [
  'start',
  'cost',
  'completion',
  'canary',
  'complete-words',
  'fmt',
  'mcp',
  'view',
  ...CONTEXTS,
];

test('the list of commands is complete', async () => {
  const leaves = (command: Command, path: string[] = []): string[][] =>
    command.commands.length === 0
      ? [path]
      : command.commands.flatMap(each => leaves(each, [...path, each.name()]));
  const tried = new Set(commandsThatTell().flatMap(([a, b]) => [a, `${a} ${b}`]));
  const missing = leaves(await createProgram())
    .map(path => path.join(' '))
    .filter(name => !TELL_NOTHING.includes(name) && !tried.has(name));
  expect(missing).toEqual([]);
});

test('on a terminal, control characters are escaped and text stays readable', async () => {
  const commands = commandsThatTell();
  const outputs = await run({ terminal: true, commands });
  const obeyed = outputs.flatMap(({ stdout, stderr }, i) =>
    OBEYED.test((stdout + stderr).replaceAll(OWN, '')) ? [[...commands[i], stdout + stderr]] : [],
  );
  expect(obeyed).toEqual([]);
  const shown = (...args: string[]) =>
    outputs[commands.findIndex(command => args.every((arg, i) => command[i] === arg))].stdout;
  expect(shown('query', '{a="b"}', '--explain', '--limit', '2', '--output', 'raw')).toBe(
    `${SHOWN}\nsecond line\nplain\n`,
  );
  expect(shown('labels', '--output', 'default')).toBe(`${SHOWN}\n`);
  expect(shown('labels', '--output', 'csv')).toBe(`value\n${SHOWN}\n`.replace('value', 'label'));
  // The continuation of a line does not look like the next entry.
  expect(shown('query', '{a="b"}', '--explain', '--limit', '2', '--output', 'default')).toContain(
    '\n  second line\n',
  );
});

test('all output of bin/ to a terminal is escaped', () => {
  const bin = join(import.meta.dirname, '../../bin');
  const files = readdirSync(bin, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
  const writing = files.filter(name =>
    /process\.std(?:out|err)\.write\(|console\./.test(readFileSync(join(bin, name), 'utf8')),
  );
  expect(writing.sort()).toEqual([join('cli', 'standard-output.ts')]);
});

test('in a pipe, lines, values and JSON are unchanged', async () => {
  const commands = [
    ['query', '{a="b"}', '--output', 'raw', '--addr', at.store],
    ['tail', '{a="b"}', '--output', 'raw', '--addr', at.tail],
    ['labels', '--addr', at.store],
    ['labels', '--output', 'csv', '--addr', at.store],
    ['query', '{a="b"}', '--output', 'jsonl', '--limit', '1', '--addr', at.store],
    ['delete', 'list', '--addr', at.store],
    ['inspect', chunk, '--page', '0'],
  ];
  const [raw, tailed, labels, csv, jsonl, deletes, page] = (await run({ terminal: false, commands })).map(
    ({ stdout }) => stdout,
  );
  expect(raw).toBe(`${LINE}\nplain\n`);
  expect(tailed).toBe(`${LINE}\nplain\n`);
  expect(labels).toBe(`${HOSTILE}\n`);
  expect(csv).toBe(`label\n"${HOSTILE}"\n`);
  expect(JSON.parse(jsonl).line).toBe(LINE);
  expect(jsonl).toContain('\u202e');
  expect(deletes).toContain(REQUEST.query);
  expect(page).toContain(LINE);
});

describe('visible text', () => {
  test('shows control characters as codes', () => {
    expect(visible('a\tb\nc\r\u001b[2Jd\u0085\u202e')).toBe('a\\tb\\nc\\r\\x1b[2Jd\\u0085\\u202e');
    expect(visibleLines('a\tb\r\nc\rd\r')).toBe('a\tb\r\nc\\rd\r');
  });

  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\r', '\n', '\t', '\u001b', '\u009b', '\u202e', '\u2028', 'a'),
      fc.integer({ min: 0, max: 0x2fff }).map(code => String.fromCharCode(code)),
    ),
  });

  test('has no control character, and keeps each other one', () => {
    fc.assert(
      fc.property(text, given => {
        expect(visible(given)).not.toMatch(/\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/u);
        expect(visibleLines(given).replaceAll(/\r(?=\n|$)/g, '')).not.toMatch(OBEYED);
        const plain = given.replaceAll(/\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/gu, '');
        if (plain === given) expect(visible(given)).toBe(given);
      }),
    );
  });

  test('visible JSON equals the JSON', () => {
    fc.assert(
      fc.property(text, given => {
        expect(JSON.parse(visibleLines(JSON.stringify(given)))).toBe(given);
      }),
    );
  });
});
