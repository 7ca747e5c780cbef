import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { detectFormat } from '../../bin/cli/import/detect.ts';
import { timeOfLine } from '../../bin/cli/import/entry-time.ts';
import { fieldOf, textOfValue } from '../../bin/cli/import/field-values.ts';
import { csvCells } from '../../bin/cli/import/formats/csv.ts';
import { createFormat, FORMAT_NAMES, type FormatName } from '../../bin/cli/import/formats.ts';
import { timeReader } from '../../bin/cli/import/time-reader.ts';
import { useTimeZone } from '../../bin/cli/time-zone.ts';

useTimeZone('UTC');

const NOON = Date.UTC(2026, 0, 10, 12);
const times = timeReader(undefined, NOON);
const TEN = '2026-01-05T10:00:00.000Z';

/** The line as it would be stored, its time, its metadata, and some of its fields. */
function read(name: FormatName, line: string, fields: readonly string[] = []) {
  const parsed = createFormat(name, { times }).parse(line);
  if (parsed === undefined) return undefined;
  const ns = timeOfLine(parsed, times);
  const time = ns === undefined ? undefined : new Date(Number(ns / 1_000_000n)).toISOString();
  return [
    time,
    parsed.line ?? 'as it is',
    parsed.metadata ?? {},
    ...fields.map(each => textOfValue(fieldOf(parsed, each))),
  ];
}

const ACCESS =
  '10.0.0.1 - ann [05/Jan/2026:11:00:00 +0100] "GET /a?b=\\"c\\" HTTP/1.1" 404 - "-" "curl/8 (x)"';

describe('import formats', () => {
  test.each<readonly [FormatName, string, readonly string[], unknown]>([
    [
      'json',
      `{"time":"${TEN}","a":{"b":[1]},"n":1767607200123456789}`,
      ['a.b', 'n'],
      [TEN, 'as it is', {}, '[1]', '1767607200123456789'],
    ],
    ['json', '{"ts":1767607200}', [], [TEN, 'as it is', {}]],
    ['json', '{"ts":1767607200.25}', [], ['2026-01-05T10:00:00.250Z', 'as it is', {}]],
    ['json', '{"ts":"later","timestamp":"1767607200000"}', [], [TEN, 'as it is', {}]],
    [
      'json',
      '{"a.b":1,"__proto__":{"x":2}}',
      ['a.b', '__proto__.x', 'toString'],
      [undefined, 'as it is', {}, '1', '2', undefined],
    ],
    ['json', '[1]', [], undefined],
    ['json', '{"a":', [], undefined],
    [
      'logfmt',
      `time=${TEN} level=info msg="a \\"b\\" c" flag x=`,
      ['level', 'msg', 'flag', 'x'],
      [TEN, 'as it is', {}, 'info', 'a "b" c', undefined, undefined],
    ],
    ['logfmt', 'a=b"c', [], undefined],
    ['logfmt', 'no pairs at all', [], undefined],
    ['logfmt', 'a="open', [], undefined],
    [
      'nginx',
      ACCESS,
      ['remote_user', 'method', 'path', 'status', 'http_referer', 'body_bytes_sent'],
      [TEN, 'as it is', {}, 'ann', 'GET', '/a?b=\\"c\\"', '404', undefined, undefined],
    ],
    ['apache', `shop.example:443 ${ACCESS}`, ['host'], [TEN, 'as it is', {}, 'shop.example:443']],
    [
      'nginx',
      '2026/01/05 10:00:00 [error] 31#32: *7 open() failed',
      ['message', 'connection'],
      [TEN, 'as it is', { level: 'error' }, 'open() failed', '7'],
    ],
    [
      'apache',
      '[Mon Jan 05 10:00:00.5 2026] [core:warn] [pid 3:tid 4] [client 10.0.0.1:5] AH1: x',
      ['client', 'message'],
      ['2026-01-05T10:00:00.500Z', 'as it is', { level: 'warn' }, '10.0.0.1:5', 'AH1: x'],
    ],
    [
      'syslog',
      'Jan  5 10:00:00 web1 sshd[31]: hello',
      ['message'],
      [TEN, 'as it is', { hostname: 'web1', app: 'sshd', pid: '31' }, 'hello'],
    ],
    [
      'syslog',
      'Dec 31 10:00:00 web1 cron: x',
      [],
      ['2025-12-31T10:00:00.000Z', 'as it is', { hostname: 'web1', app: 'cron' }],
    ],
    [
      'syslog',
      '<11>1 2026-01-05T11:00:00+01:00 web1 app - ID1 [a b="c ] d"] text',
      ['structured_data', 'message'],
      [
        TEN,
        'as it is',
        { hostname: 'web1', app: 'app', message_id: 'ID1', level: 'error' },
        '[a b="c ] d"]',
        'text',
      ],
    ],
    ['syslog', '2026-01-05T10:00:00Z ERROR Foo: x', [], undefined],
    ['syslog', '<999>Jan  5 10:00:00 a b: c', [], undefined],
    [
      'docker',
      `{"log":"a\\tb\\r\\n","stream":"stderr","time":"${TEN}"}`,
      [],
      [TEN, 'a\tb', { stream: 'stderr' }],
    ],
    [
      'docker',
      `{"log":"{\\"level\\":\\"warn\\"}\\n","stream":"stdout","time":"${TEN}"}`,
      ['level'],
      [TEN, '{"level":"warn"}', { stream: 'stdout' }, 'warn'],
    ],
    ['docker', '{"log":1}', [], undefined],
    ['cri', `${TEN} stdout F  two spaces`, [], [TEN, ' two spaces', { stream: 'stdout' }]],
    ['cri', `${TEN} stdout F`, [], [TEN, '', { stream: 'stdout' }]],
    ['cri', `${TEN} stdin F x`, [], undefined],
    [
      'journald',
      '{"__REALTIME_TIMESTAMP":"1767607200000000","PRIORITY":"3","_SYSTEMD_UNIT":"a.service","MESSAGE":[104,195,188]}',
      [],
      [TEN, 'hü', { unit: 'a.service', level: 'error' }],
    ],
    ['journald', '{"__REALTIME_TIMESTAMP":"-1"}', [], undefined],
    ['text', '[2026-01-05 10:00:00] a', [], [TEN, 'as it is', {}]],
    ['text', '  at a.b(C.java:1)', [], undefined],
    ['plain', TEN, [], undefined],
  ])('%s %s', (name, line, fields, want) => {
    expect(read(name, line, fields)).toEqual(want);
  });

  test('CSV has its columns from the header or from the user, and becomes JSON objects', () => {
    const format = createFormat('csv', { times });
    expect(format.readHeader!('time;"a ""b""";c')).toBe(true);
    const row = format.parse(`${TEN};"x;y";`);
    expect(row?.line).toBe(`{"time":"${TEN}","a \\"b\\"":"x;y","c":""}`);
    expect(timeOfLine(row!, times)).toBe(BigInt(Date.parse(TEN)) * 1_000_000n);
    expect(format.parse('too;few')).toBeUndefined();
    expect(format.isOpen!('a,"b')).toBe(true);
    const named = createFormat('csv', { times, csvColumns: ['a', 'b'] });
    expect(named.readHeader!('1,2')).toBe(false);
    expect(named.parse('1,2')?.line).toBe('{"a":"1","b":"2"}');
  });

  test('cells of CSV are read as they were quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 10 }), cells => {
        const line = cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',');
        expect(csvCells(line, ',')).toEqual(cells);
      }),
    );
  });

  test('pairs of logfmt are read as they were written', () => {
    const name = fc.stringMatching(/^[a-z_]{1,8}$/);
    const value = fc.string({ unit: 'grapheme-ascii', maxLength: 20 });
    fc.assert(
      fc.property(fc.dictionary(name, value, { minKeys: 1, noNullPrototype: false }), pairs => {
        const line = Object.entries(pairs)
          .map(([key, text]) => `${key}=${JSON.stringify(text)}`)
          .join(' ');
        expect({ ...createFormat('logfmt', { times }).parse(line)?.fields }).toEqual({ ...pairs });
      }),
    );
  });

  /** Pieces of all formats, so that lines are nearly right. */
  const PIECES = [
    ACCESS,
    `${TEN} stdout P x`,
    '{"log":"',
    '"',
    '\\',
    '[',
    ']',
    '{',
    '}',
    ' ',
    '=',
    '<34>1 ',
    TEN,
    'Jan  5 10:00:00',
    ',',
    '\u0000',
    '\ud800',
    ': ',
  ];
  const hostile = fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 8 })), {
      maxLength: 30,
    })
    .map(pieces => pieces.join(''));

  test.each(FORMAT_NAMES)('%s takes any text without an exception', name => {
    fc.assert(
      fc.property(hostile, text => {
        const format = createFormat(name, { times });
        const parsed = format.parse(text);
        if (parsed !== undefined) {
          const ns = timeOfLine(parsed, times);
          expect(ns === undefined || (ns < 2n ** 63n && ns > -(2n ** 63n))).toBe(true);
          expect(typeof (parsed.line ?? '')).toBe('string');
        }
        detectFormat([text], { times });
      }),
    );
  });

  /** A pattern that tries every cut of such lines would not end. */
  const LONG = 300_000;
  test.each(FORMAT_NAMES)('%s reads long lines of one kind to their end', name => {
    const format = createFormat(name, { times, csvColumns: ['a'] });
    for (const piece of ['a', ' ', '"', '\\', 'a=', '[', '[[', 'a ', '" "', '1', '\\"', '{"a":', ',', 'a"'])
      for (const start of [
        '',
        ACCESS,
        '{"a":"',
        'a="',
        '<34>1 2026-01-05T10:00:00Z h a p m [',
        `${TEN} stdout F `,
      ])
        format.parse(start + piece.repeat(LONG / piece.length));
    expect(format.parse('')?.line).toBe(name === 'csv' ? '{"a":""}' : undefined);
  });
});

describe('format detection', () => {
  const access = Array.from({ length: 5 }, () => ACCESS);
  test.each<readonly [FormatName | undefined, readonly string[]]>([
    ['json', [`{"time":"${TEN}"}`, '', `{"ts":"${TEN}"}`]],
    [undefined, ['{"msg":"no time"}', '{"msg":"no time"}']],
    ['logfmt', [`ts=${TEN} level=info`]],
    [undefined, ['level=info msg=x']],
    ['nginx', access],
    ['docker', [`{"log":"a\\n","stream":"stdout","time":"${TEN}"}`]],
    ['cri', [`${TEN} stdout F {"time":"${TEN}"}`]],
    ['journald', ['{"__REALTIME_TIMESTAMP":"1767607200000000","MESSAGE":"x"}']],
    ['syslog', ['Jan  5 10:00:00 web1 sshd[31]: hello']],
    ['apache', ['[Mon Jan 05 10:00:00 2026] [error] x']],
    ['csv', ['time,level', `${TEN},info`]],
    [undefined, ['time,level']],
    ['text', [`${TEN} INFO x`, ...Array.from({ length: 10 }, () => '  at x')]],
    ['text', ['I0105 10:00:00.123456 1 main.go:7] x']],
    [undefined, ['# started', ...Array.from({ length: 3 }, () => `${TEN} INFO x`)]],
    [undefined, ['first', 'second']],
    [undefined, []],
    [undefined, ['', '  ']],
  ])('%s', (want, lines) => {
    expect(detectFormat(lines, { times })).toBe(want);
  });

  test('a named time field is used', () => {
    const lines = [`{"when":"${TEN}"}`];
    expect(detectFormat(lines, { times, timeField: 'when' })).toBe('json');
  });
});
