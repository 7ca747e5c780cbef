/**
 * Entries of one day, made from a seed: JSON, logfmt and access logs, sound and broken, bytes that are not UTF-8, structured
 * metadata that collides with labels and fields, equal times, empty lines, numbers of all sizes. Lines are texts of byte-text.ts.
 */

import { NS_OF_SECOND } from '../../shared/base/model/time-units.ts';
import { Dice } from '../simulation/dice.ts';
import { DAY } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

/** Time of the first entry of the day, and length of the corpus. */
export const FIRST_SECOND = 3_600;
export const CORPUS_SECONDS = 7_200;

const LEVELS = ['info', 'warn', 'error', 'debug', 'ERROR'];
const USERS = ['alice', 'bob', 'café', 'user-7', 'user-17', 'user-171'];
const DURATIONS = [
  '5ms',
  '250ms',
  '1.5s',
  '2s',
  '1m30s',
  '-3s',
  '0',
  '90',
  '1d',
  'slow',
  '150µs',
  '1h0.5m',
  '',
];
const SIZES = ['10B', '512', '1KB', '10KiB', '10240B', '1.5MB', '2 MiB', 'big', '3q', '', '9EB', '99EB'];
const NUMBERS = [
  '0',
  '1',
  '7',
  '42',
  '200',
  '404',
  '500',
  '503',
  '-12',
  '3.25',
  '1e3',
  '.5',
  '5.',
  '1_000',
  '0x1p4',
  'NaN',
  'Inf',
  '-Inf',
  '1e400',
  '123456789012345678901234567890',
  '9007199254740993',
  'n/a',
  '',
];
const ADDRESSES = [
  '10.0.0.7',
  '10.0.1.200',
  '192.168.4.5:80',
  '2001:db8::1',
  '::1',
  'localhost',
  '10.0.0.256',
  '',
];
const WORDS = [
  'timeout',
  'error',
  'connection refused',
  'ok',
  'a\udcffb',
  'a\ufffdb',
  'caf\u00e9',
  'tab\there',
  'x=y',
  '"quoted"',
];

type Line = (dice: Dice) => string;

function json(dice: Dice): string {
  const fields: [string, string][] = [
    ['level', `"${dice.pick(LEVELS)}"`],
    ['status', dice.chance(0.7) ? dice.pick(NUMBERS.slice(0, 12)) || '0' : `"${dice.pick(NUMBERS)}"`],
    ['took', `"${dice.pick(DURATIONS)}"`],
    ['size', `"${dice.pick(SIZES)}"`],
    ['user', `"${dice.pick(USERS)}"`],
    ['ip', `"${dice.pick(ADDRESSES)}"`],
    ['msg', `"${jsonInside(dice.pick(WORDS))} ${dice.below(50)}"`],
    [
      'req',
      `{"path": "/v1/${dice.below(9)}", "id": ${dice.below(1e6)}, "tls": ${dice.pick(['true', 'false', 'null'])}}`,
    ],
    ['items', dice.pick(['[]', '[1, 2, {"k": "v"}]', '["a", "b"]', '[{"k": [7]}]'])],
    ['huge', dice.pick(['12345678901234567890', '1e308', '-0.000000001'])],
    ['app', '"inner"'],
    ['a-b.c', `"${dice.pick(['x', '', '\\u00e9', '\\ud83d\\ude00'])}"`],
  ];
  const chosen = fields.filter(() => dice.chance(0.6));
  if (dice.chance(0.1)) chosen.push(['level', '"again"']);
  if (dice.chance(0.1)) chosen.push(['zone', '"json"']);
  const [colon, comma] = dice.pick([
    [':', ','],
    [': ', ', '],
  ]);
  return `{${chosen.map(([name, value]) => `"${name}"${colon}${value}`).join(comma)}}`;
}

function jsonInside(text: string): string {
  return text.replaceAll('"', '\\"').replaceAll('\t', '\\t');
}

function brokenJson(dice: Dice): string {
  const line = json(dice);
  switch (dice.below(7)) {
    case 0:
      return line.slice(0, dice.below(line.length));
    case 1:
      return `${line} trailing`;
    case 2:
      return line.replace(':', '');
    case 3:
      return line.replace(/"(level|user|msg)"/, '"\\q"');
    case 4:
      return line.replace(/[a-z]+"/, '\udcfe\\ud800"');
    case 5:
      return `[${line}]`;
    default:
      return line.replace(/: ?"/, ':xyz "');
  }
}

function logfmt(dice: Dice): string {
  const word = dice.pick(WORDS);
  const fields = [
    `level=${dice.pick(LEVELS)}`,
    `status=${dice.pick(NUMBERS)}`,
    `took=${dice.pick(DURATIONS)}`,
    `size="${dice.pick(SIZES)}"`,
    `user=${dice.pick(USERS)}`,
    `ip=${dice.pick(ADDRESSES)}`,
    `msg="${word.replaceAll('"', '\\"')} ${dice.below(50)}"`,
    `n=${dice.below(1000) / 8}`,
    'env=inner',
    dice.pick(['flag', 'empty=', 'quoted=""', 'a.b=dot', '1st=digit', 'tab="a\\tb"', 'uni="\\u00e9"']),
  ].filter(() => dice.chance(0.6));
  if (dice.chance(0.08))
    fields.push(dice.pick(['=x', 'a"b=c', 'k="open', 'k=v"w', 'bad\udcff=1', 'q="\\q"', 'level=twice']));
  return fields.join(dice.pick([' ', '  ', '\t']));
}

function access(dice: Dice): string {
  const path = dice.pick(['/', '/v1/items?id=7', '/health', '/caf\u00e9', '/a\udcffb']);
  const method = dice.pick(['GET', 'POST', 'HEAD']);
  const status = dice.pick(['200', '204', '301', '404', '500', '-']);
  const time = `19/Nov/2026:0${dice.below(9)}:1${dice.below(9)}:00 +0000`;
  return `${dice.pick(ADDRESSES) || '-'} - ${dice.pick(USERS)} [${time}] "${method} ${path} HTTP/1.1" ${status} ${dice.below(90_000)} "-" "curl/8.${dice.below(9)}"`;
}

function odd(dice: Dice): string {
  return dice.pick([
    '',
    ' ',
    '\n',
    'error',
    'ERROR: Timeout',
    'err ers timeout error',
    '\u001b[31mred error\u001b[0m plain',
    '\u009b1;32mgreen\u001b]0;title\u0007',
    'a\udcffb',
    '\udcff\udcfe',
    'a\ufffdb',
    'caf\udcc3',
    'caf\u00e9 \u{1f600} \u4e2d\u6587',
    'x \udce2\udc82 y',
    'level=error caf\u00e9=\udcff',
    'line one\nline two error',
    'tab\tand\u0000nul',
    `${'a'.repeat(dice.below(300))}b`,
    '{}',
    '[]',
    '"text"',
    '12345678901234567890',
    'from 10.0.0.7 to 2001:db8::1',
    '=',
    '{"level":"error"',
  ]);
}

function packed(dice: Dice): string {
  const entry = jsonInside(dice.pick([...WORDS, 'level=error took=5ms', '']));
  return dice.pick([
    `{"pod":"p-${dice.below(3)}","stream":"stdout","_entry":"${entry}"}`,
    `{"_entry":"${entry}","app":"packed","n":7}`,
    `{"pod":"p-1","no":"entry"}`,
    `{"pod":"a b\udcff","_entry":"{\\"level\\":\\"error\\"}"}`,
    ` {"_entry":"x"}`,
    `{"_entry":"\\q"}`,
    `{"_entry":"cut`,
    'not packed',
  ]);
}

/** Typical lines of a service, which get field columns. */
function steadyJson(dice: Dice): string {
  const fields = [
    `"level":"${dice.pick(LEVELS)}"`,
    `"status":${dice.pick(['200', '200', '404', '500', '503'])}`,
    `"took":"${dice.pick(['5ms', '20ms', '250ms', '1.5s', '2s'])}"`,
    `"user":"${dice.pick(USERS)}"`,
    `"n":${dice.below(400) / 8}`,
    `"id":"${id(dice)}"`,
    `"req":{"path":"/v1/${dice.below(4)}","tls":${dice.chance(0.5)}}`,
  ];
  return `{${fields.slice(dice.chance(0.2) ? 1 : 0, dice.chance(0.2) ? 6 : 7).join()}}`;
}

function steadyLogfmt(dice: Dice): string {
  const fields = [
    `level=${dice.pick(LEVELS)}`,
    `status=${dice.pick(['200', '200', '404', '500', '503'])}`,
    `took=${dice.pick(['5ms', '20ms', '250ms', '1.5s', '2s'])}`,
    `user=${dice.pick(USERS)}`,
    `n=${dice.below(400) / 8}`,
    `id=${id(dice)}`,
    `msg="${dice.pick(['ok', 'timed out', ''])}"`,
  ];
  return fields.slice(dice.chance(0.2) ? 1 : 0, dice.chance(0.2) ? 6 : 7).join(' ');
}

/** Another in every line, so that lines are stored in many bytes: columns are held against these. */
function id(dice: Dice): string {
  return Array.from({ length: 12 }, () => dice.below(0x1_0000_0000).toString(36)).join('');
}

/** Lines that fill pages. */
function huge(dice: Dice): string {
  const noise = Array.from({ length: 1_500 }, () => dice.below(0x1_0000_0000).toString(36)).join(' ');
  return dice.pick([`{"level":"error","noise":"${noise}"}`, `level=info noise="${noise}"`, noise]);
}

const STREAMS: readonly {
  readonly labels: Record<string, string>;
  readonly count: number;
  readonly line: Line;
}[] = [
  { labels: { app: 'api', env: 'prod', pod: '1' }, count: 120, line: json },
  { labels: { app: 'api', env: 'prod', pod: '2' }, count: 40, line: json },
  {
    labels: { app: 'api', env: 'dev' },
    count: 60,
    line: dice => (dice.chance(0.5) ? json(dice) : brokenJson(dice)),
  },
  { labels: { app: 'db', env: 'prod', pod: '1' }, count: 110, line: logfmt },
  { labels: { app: 'web', env: 'prod' }, count: 80, line: access },
  { labels: { app: 'odd', env: 'dev' }, count: 80, line: odd },
  { labels: { app: 'ties', env: 'dev' }, count: 60, line: dice => dice.pick([logfmt, odd])(dice) },
  { labels: { app: 'packed', env: 'dev' }, count: 50, line: packed },
  { labels: { app: 'shop', env: 'prod' }, count: 150, line: steadyJson },
  { labels: { app: 'cart', env: 'prod' }, count: 150, line: steadyLogfmt },
  { labels: { app: 'huge', env: 'dev' }, count: 6, line: huge },
];

/** Entries in the order in which they are pushed, none twice. */
export function corpusOf(seed: number): DatedEntry[] {
  const dice = new Dice(seed);
  const entries: DatedEntry[] = [];
  let number = 0;
  for (const { labels, count, line } of STREAMS) {
    for (let i = 0; i < count; i++) {
      const isTied = labels.app === 'ties';
      const second = FIRST_SECOND + dice.below(isTied ? 12 : CORPUS_SECONDS) * (isTied ? 600 : 1);
      // Every other entry has a separate time, some at the very edge of a window.
      const time = isTied
        ? second * NS_OF_SECOND
        : second * NS_OF_SECOND + ++number * 1_000 + dice.below(1_000) - 1_000;
      entries.push({ stream: labels, day: DAY, time, line: line(dice), metadata: metadata(dice) });
    }
  }
  const known = new Set<string>();
  const shuffled = entries.map(entry => ({ entry, place: dice.next() })).sort((a, b) => a.place - b.place);
  return shuffled
    .map(({ entry }) => entry)
    .filter(({ stream, time, line, metadata: pairs }) => {
      const key = JSON.stringify([stream, time, line, Object.entries(pairs).sort()]);
      return !known.has(key) && known.add(key);
    });
}

function metadata(dice: Dice): Record<string, string> {
  const pairs: [string, string][] = [
    ['trace', `t-${dice.below(40)}`],
    ['zone', dice.pick(['eu', 'us', 'caf\u00e9'])],
    ['level', dice.pick(LEVELS)],
    ['app', 'meta'],
    ['status', dice.pick(NUMBERS.slice(0, 10))],
    ['took', dice.pick(['3s', '20ms', 'soon'])],
  ];
  return Object.fromEntries(pairs.filter((_, i) => dice.chance(i < 2 ? 0.4 : 0.08)));
}
