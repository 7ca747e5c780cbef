/** Lines of a few shapes with values of every type that columns have, some of which break a type near its edge. */
import fc from 'fast-check';
import { type Page, pageOf } from './hostile.ts';

export interface TimedPage extends Page {
  /** Time of day of each row, ns. */
  readonly times?: Float64Array;
}

export const pageOfTexts = (texts: readonly string[]) =>
  pageOf(texts.map(text => Buffer.from(text, 'latin1')));

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.maxSafeNat().map(String),
  fc.constantFrom(
    '0',
    '-0',
    '00',
    '-1',
    '0.5',
    '-0.5',
    '-0.0',
    '999999999999999',
    '1000000000000000',
    '1.',
    '.5',
    '-',
  ),
  fc
    .tuple(fc.integer({ min: -999, max: 999 }), fc.nat(999))
    .map(([a, b]) => `${a}.${String(b).padStart(3, '0')}`),
);
const shaped = fc
  .tuple(
    fc.nat(4),
    fc.oneof(
      numberText,
      fc.nat(9999).map(n => String(n).padStart(4, '0')),
    ),
    fc.constantFrom('info', 'warn', 'a b', 'é', ''),
    fc.uint8Array({ minLength: 8, maxLength: 8 }).map(bytes => Buffer.from(bytes).toString('hex')),
    fc.nat(1e9).map(ms => new Date(1_700_000_000_000 + ms).toISOString()),
    fc.uuid(),
  )
  .map(
    ([shape, number, word, hex, time, uuid]) =>
      [
        `{"ts":"${time}","level":"${word}","n":${number},"trace":"${hex}"}`,
        `ts=${time} level=${word} n=${number} id=${uuid}`,
        `${time} "${word} x" ${number} ${hex}f`,
        `{"n": ${number}, "l": "${word}"}`,
        `GET /${number}/${word} ${uuid}`,
      ][shape],
  );
/** Texts that show a time in different ways: UTC, a local time, an hour of one place, seconds without a fraction. */
const SHOWN: readonly ((date: Date, fraction: string) => string)[] = [
  (date, fraction) => `${date.toISOString().slice(0, 19)}.${fraction}Z`,
  (date, fraction) => `${date.toISOString().slice(11, 19)},${fraction.slice(0, 3)}`,
  date => `27/Nov/2026:${date.toISOString().slice(11, 19)}`,
  (date, fraction) => `at 23:59:59 ${date.toISOString().slice(0, 19)}.${fraction}123 and on`,
];
/** Lines that show the times of their rows, but for some pages in one row; and those times. */
export const timedPage = fc
  .record({
    first: fc.nat(86_399),
    steps: fc.array(fc.oneof(fc.nat(3_000_000_000), fc.nat(999)), { minLength: 7, maxLength: 50 }),
    shown: fc.constantFrom(...SHOWN),
    zone: fc.constantFrom(0, 0, 3600, 20_700, -3600, 1),
    wrong: fc.option(fc.nat(49)),
  })
  .map(({ first, steps, shown, zone, wrong }) => {
    let time = first * 1e9 + 17;
    const times = [0, ...steps].map(step => {
      time += step;
      return time;
    });
    const inDay = times.filter(time => time < 86_400_000_000_000);
    const texts = inDay.map((time, row) => {
      const at = time + (row === wrong ? 1_000_000 : 0);
      const date = new Date(1_795_737_600_000 + Math.floor(at / 1e9) * 1000 + zone * 1000);
      return `{"ts":"${shown(date, String(at % 1e9).padStart(9, '0'))}","n":${row}}`;
    });
    return { ...pageOfTexts(texts), times: Float64Array.from(inDay) };
  });
const affix = fc.tuple(
  fc.constantFrom('', 't-', '/api/v2/items/', '-', 'a.', '1.', 'x'.repeat(60), 'é 00'),
  fc.constantFrom('', 'ms', '/cart', ' HTTP/1.1', '.js', '0', 'y'.repeat(70)),
);
const inText = fc.oneof(
  numberText,
  fc.nat(99).map(String),
  fc.constant(''),
  fc.stringMatching(/^[0-9.]{0,30}$/),
);
/** Texts with a number: few affixes, and some texts that have others. */
export const numberedValues = fc
  .tuple(fc.array(affix, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 40 }))
  .chain(([affixes, weight]) => {
    const numbered = fc
      .tuple(fc.constantFrom(...affixes), inText)
      .map(([[before, after], number]) => before + number + after);
    const odd = fc.stringMatching(/^[a-c0-9.-]{0,9}$/);
    return fc.array(fc.oneof({ weight, arbitrary: numbered }, { weight: 1, arbitrary: odd }), {
      minLength: 28,
      maxLength: 120,
      size: 'max',
    });
  });
export const numberedPage = numberedValues.map(values =>
  pageOfTexts(values.map(value => `{"k":"${value}"}`)),
);
export const shapedPage = fc
  .oneof(
    fc.array(shaped, { maxLength: 40 }),
    // One shape, so that columns keep their types.
    fc
      .array(shaped, { minLength: 8, maxLength: 60 })
      .map(lines => lines.filter(line => line[0] === lines[0][0])),
  )
  .map(pageOfTexts);
/** Texts between values: short ones, so that terms have bytes of two values, dots, and keys. */
const between = fc.oneof(
  fc.constantFrom(
    ' ',
    '.',
    ' .',
    '. ',
    '"',
    ' "',
    '" "',
    '", ',
    ':',
    '_',
    '-',
    '/',
    ' ab',
    'Kc ',
    '://',
    'é',
  ),
  fc.constantFrom('"k":', '"k": "', '","Key":"', ' k=', ' Other="', ',"n":', '}', ', "msg":"', ' a.k='),
  fc.stringMatching(/^[a-cX." =:]{0,9}$/),
);
const texts = (...values: string[]) => fc.constantFrom(...values);
/** Values of one column: mostly of one type, and near the limits of what has a term. */
const columns = fc.constantFrom<fc.Arbitrary<string>>(
  texts('info', 'WARN', 'ab', '-', 'connection refused', 'v1', 'x.1'),
  texts('GET /a/b HTTP/1.1', 'GET /a/c HTTP/1.1', '-'),
  fc.nat(20).map(String),
  fc.integer({ min: -3, max: 1200 }).map(String),
  fc.nat(2 ** 40).map(String),
  fc.tuple(fc.nat(12_000), fc.nat(99)).map(([a, b]) => `${a}.${String(b).padStart(2, '0')}`),
  fc.tuple(fc.nat(9), fc.nat(999_999_999)).map(([a, b]) => `${a}.${String(b).padStart(9, '0')}`),
  fc.nat(1e9).map(ms => new Date(1_700_000_000_000 + ms).toISOString()),
  fc.nat(1e8).map(ms => `/Nov/${new Date(ms * 1000).toISOString().slice(0, 19)}`),
  fc.nat(9999).map(n => `a1.${String(n).padStart(4, '0')}b-${String(n % 100).padStart(2, '0')}`),
  fc.uint8Array({ minLength: 8, maxLength: 8 }).map(bytes => Buffer.from(bytes).toString('hex')),
  fc.uuid(),
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.${a}.${b}.7`),
  fc.tuple(fc.nat(99), fc.nat(99)).map(([a, b]) => `10.${100 + a}.${100 + b}.7`),
  fc.nat(999_999).map(n => String(n).padStart(6, '0')),
  fc.nat(99_999).map(n => `a${String(n).padStart(5, '0')}-x`),
  fc.tuple(fc.nat(9), fc.nat(999_999)).map(([a, b]) => `${a}.${String(b).padStart(6, '0')}`),
  fc.nat(300).map(n => `t-${n}`),
  fc.nat(30_000).map(n => `u${n}`),
  fc.tuple(texts('server.go:', 'Cache.', 'a1b2c', ''), fc.nat(1200)).map(([file, n]) => `${file}${n}`),
  fc.tuple(fc.nat(99), fc.nat(999)).map(([a, b]) => `${a}.${String(b).padStart(3, '0')}ms`),
  fc.tuple(fc.nat(9), fc.nat(999)).map(([a, b]) => `${a}.${String(b).padStart(3, '0')}seconds`),
  fc.tuple(fc.nat(9_999_999), texts('ms', '/cart', 'x1y2')).map(([n, after]) => `${n}${after}`),
  fc.stringMatching(/^[a-c0-9 .-]{0,12}$/),
);
/** Lines of up to three shapes, each a list of texts and values, before and after a value too. */
export const columnPage: fc.Arbitrary<Page> = fc
  .array(
    fc.record({
      start: fc.oneof(fc.constantFrom('{"a":"', '', 'ts='), between),
      parts: fc.array(fc.tuple(columns, between), { minLength: 1, maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .chain(shapes => {
    const lines = shapes.map(({ start, parts }) =>
      fc
        .tuple(...parts.map(([values]) => values))
        .map(values => start + values.map((value, i) => value + parts[i][1]).join('')),
    );
    return fc.array(fc.oneof(...lines), { minLength: 1, maxLength: 90, size: 'max' });
  })
  .map(lines => pageOf(lines.map(line => Buffer.from(line))));
