import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogStream } from '../../ui/src/api/types.ts';
import { stacked, valuesOn } from '../../ui/src/components/chart-model.ts';
import { parseAnsi } from '../../ui/src/lines/ansi.ts';
import { fieldsOf } from '../../ui/src/lines/fields.ts';
import { levelOf } from '../../ui/src/lines/level.ts';
import { logRowsOf, withPage } from '../../ui/src/lines/rows.ts';
import { piecesOf } from '../../ui/src/lines/text-parts.ts';

describe('ANSI', () => {
  test.each([
    ['plain', 'plain', []],
    [
      '\u001b[31mred\u001b[0m',
      'red',
      [
        { from: 0, style: { color: 1 } },
        { from: 3, style: {} },
      ],
    ],
    [
      'a\u001b[1;4;96;41mb',
      'ab',
      [{ from: 1, style: { bold: true, underlined: true, color: 14, ground: 1 } }],
    ],
    ['\u001b[38;5;196mx', 'x', [{ from: 0, style: { color: '#ff0000' } }]],
    ['\u001b[38;5;3;1mx', 'x', [{ from: 0, style: { color: 3, bold: true } }]],
    ['\u001b[48;2;1;2;3mx', 'x', [{ from: 0, style: { ground: '#010203' } }]],
    ['\u001b[38;2;999;0;0mx', 'x', [{ from: 0, style: {} }]],
    ['\u001b[2K\u001b[1Gx\u001b]0;title\u0007y', '\u001b[2K\u001b[1Gx\u001b]0;title\u0007y', []],
    ['\u001b[1m\u001b[Kx', 'x', [{ from: 0, style: { bold: true } }]],
    ['\u001b[31m\u001b[32mx', 'x', [{ from: 0, style: { color: 2 } }]],
  ])('%j', (line, text, runs) => expect(parseAnsi(line)).toEqual({ text, runs }));

  test('parts add up to the text, and matches are marked', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', '\u001b[31m', '\u001b[0m', '\u001b', '[') });
    fc.assert(
      fc.property(line, text => {
        const ansi = parseAnsi(text);
        const at = ansi.text.indexOf('ab');
        const matches = at === -1 ? [] : [at, at + 2];
        const pieces = piecesOf(ansi, matches);
        expect(pieces.map(piece => piece.text).join('')).toBe(ansi.text);
        const marked = pieces.filter(piece => piece.marked).map(piece => piece.text);
        expect(marked.join('')).toBe(at === -1 ? '' : 'ab');
      }),
      { numRuns: 200 },
    );
  });
});

describe('fields of a line', () => {
  test.each([
    [
      '{"a":1,"b":{"c-d":"x","e":[1]},"f":null,"1x":true}',
      'json',
      [
        ['a', '1'],
        ['b_c_d', 'x'],
        ['_1x', 'true'],
      ],
    ],
    [
      'level=info msg="say \\"hi\\"" n=',
      'logfmt',
      [
        ['level', 'info'],
        ['msg', 'say "hi"'],
        ['n', ''],
      ],
    ],
  ])('%s', (line, parser, fields) => expect(fieldsOf(line)).toEqual({ parser, fields }));
  test.each(['plain text', 'see http://x/?a=b', '{not json}', '[1]', ''])('%j has none', line =>
    expect(fieldsOf(line)).toBeUndefined(),
  );
});

test('levels have one name each', () => {
  expect(['WARNING', 'err', 'fatal', 'Info', undefined, 'odd'].map(levelOf)).toEqual([
    'warn',
    'error',
    'critical',
    'info',
    'unknown',
    'unknown',
  ]);
});

describe('pages of rows', () => {
  const entry = (ns: number, line: string) =>
    [`17000000000000000${String(ns).padStart(2, '0')}`, line] as const;
  const stream = (app: string, ...values: (readonly [string, string])[]): LogStream => ({
    stream: { app },
    values,
  });

  test('streams become one list in the order of time', () => {
    const rows = logRowsOf([stream('a', entry(9, 'a9'), entry(3, 'a3')), stream('b', entry(5, 'b5'))], true);
    expect(rows.map(({ line }) => line)).toEqual(['a9', 'b5', 'a3']);
    expect(
      logRowsOf([stream('a', entry(9, 'a9')), stream('b', entry(5, 'b5'))], false).map(({ line }) => line),
    ).toEqual(['b5', 'a9']);
  });

  test('a page that begins at the last time adds new lines, each with a unique key', () => {
    const first = logRowsOf([stream('a', entry(9, 'x'), entry(5, 'x'), entry(5, 'y'))], true);
    const next = logRowsOf(
      [stream('a', entry(5, 'y'), entry(5, 'z'), entry(5, 'x'), entry(1, 'x')), stream('b', entry(5, 'x'))],
      true,
    );
    const all = withPage(first, next);
    expect(all.map(({ ns, line, stream: { app } }) => `${ns.slice(-2)}${line}${app}`)).toEqual([
      '09xa',
      '05xa',
      '05ya',
      '05za',
      '05xb',
      '01xa',
    ]);
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  });
});

test('puts series on a grid, and on top of each other', () => {
  const values = valuesOn([1000, 2000, 3000], {
    metric: {},
    values: [
      [1, '4'],
      [3, '5'],
      [9, '7'],
    ],
  });
  expect(values).toEqual([4, null, 5]);
  const one = { label: '', labels: {}, color: '' };
  expect(
    stacked([
      { ...one, values },
      { ...one, values: [1, 1, null] },
    ]),
  ).toEqual([
    [5, 1, 5],
    [1, 1, 0],
  ]);
});
