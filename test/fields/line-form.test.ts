/** Fields of split lines by their templates: exactly those of parsing the lines, and escapes alone need a parser. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import { labelsOf } from '../../shared/base/model/labels.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { FormedLines } from '../../shared/execution/fields/formed-lines.ts';
import { formOfTemplate } from '../../shared/execution/fields/line-form.ts';
import type { LogStream } from '../../shared/read/query/log-query.ts';
import { cutSplit, joinValues, packSplit } from '../../shared/storage/chunk/split-page.ts';
import { COMPACTION_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { fieldsOf, streamOf, type Texts } from '../insight/detected/support.ts';
import { pageOf } from '../kernels/hostile.ts';
import { bySuite } from '../support/suite.ts';
import { jsonLines, logfmtLines } from './lines.ts';

interface Formed {
  /** The stream with forms instead of lines, where they are known. */
  readonly stream: LogStream;
  readonly count: number;
}

/** @param wanted Whether a row is requested */
async function formed(
  texts: readonly string[],
  labels: Texts,
  wanted = (_row: number) => true,
): Promise<Formed> {
  const { lines, lineOffsets, rows } = pageOf(texts.map(text => Buffer.from(text)));
  const plain = streamOf(texts, labels);
  const split = splitLines({ lines, lineOffsets, rows });
  if (split === undefined) return { stream: plain, count: 0 };
  const cut = cutSplit({ split, rows, isSure: true }, undefined);
  const block = await packSplit(cut, lines, COMPACTION_COMPRESSION);
  const values: PageRows['values'] = (selection, count) =>
    joinValues(block!, { offsets: lineOffsets, rows }, Buffer.alloc(lines.length), 'a page', {
      selection,
      count,
    });
  const selected = Uint32Array.from(texts.keys()).filter(wanted);
  const found = new FormedLines({ values } as unknown as PageRows, selected);
  let count = 0;
  const entries = plain.entries.map((entry, row) => {
    const own = wanted(row) ? found.get(row, labelsOf(labels)) : undefined;
    if (own !== undefined) count++;
    return own === undefined ? entry : { ...entry, line: own, form: found.form };
  });
  return { stream: { ...plain, entries }, count };
}

const value = fc.oneof(
  { weight: 15, arbitrary: fc.constantFrom('x', 'b c', 'a7', '12', '1.5', '5ms', '/a/7', 'true', 'null') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\\"',
      '\\n',
      'é',
      '\ufffd',
      '=',
      '{',
      '}',
      '[1]',
      ',',
      '\0',
      '\0\0',
      '":"',
      ' a=1',
      '\n',
    ),
  },
);
const bare = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('1', '2.5', '-3', 'true', 'null', '01', '1e9') },
  value,
);
const shaped = fc
  .tuple(fc.oneof(fc.nat(13), fc.constantFrom(0, 1, 2, 8, 9)), value, value, bare)
  .map(
    ([shape, a, b, c]) =>
      [
        `{"level":"${a}","msg":"${b}","n":${c}}`,
        `{"a":{"b":"${a}","c":{"d":${c}}},"e": "${b}"}`,
        `{"a-b":"${a}","é":"${b}","n":${c}}`,
        `{"a.b":"${a}","a_b":"${b}"}`,
        `{"a":"${a}","a":"${b}"}`,
        `{"${a}":"x","k":"${b}"}`,
        `{"list":[${c},"${a}"],"o":{},"k":"${b}"}`,
        `{"a":"x","b":null,"c":${c}}`,
        `level=${a} msg="${b}" n=${c}`,
        `a=${c} b="${a}"`,
        `a=${c} a="${b}"`,
        `a=${c} ${a} msg="${b}"`,
        `${a} a=${c}`,
        `{"app":"${a}","__error__":"${b}","x_extracted":${c}}`,
      ][shape],
  );
const line = fc.oneof(
  { weight: 6, arbitrary: shaped },
  { weight: 1, arbitrary: fc.oneof(jsonLines, logfmtLines).map(String) },
);

test('fields are those of parsing the lines', async () => {
  let all = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 40 }),
      fc.constantFrom<Texts>({ app: 'x' }, { app: 'x' }, { level: 'x' }, { a_b: 'x' }),
      fc.constantFrom(1, 2, 3),
      fc.constantFrom(1000, 2),
      async (texts, labels, every, limit) => {
        const { stream, count } = await formed(texts, labels, row => row % every === 0);
        all += count;
        const want = await fieldsOf([streamOf(texts, labels)], limit);
        expect({ texts, ...(await fieldsOf([stream], limit)) }).toEqual({ texts, ...want });
      },
    ),
    { numRuns: 600 },
  );
  // Many lines were not parsed.
  expect(all).toBeGreaterThan(bySuite({ fast: 100, full: 800 }));
});

describe('lines that are parsed', () => {
  test('are those with an escape, alone', async () => {
    const texts = Array.from(
      { length: 500 },
      (_, i) => `{"id":"a${i}","msg":"${i === 7 ? '\\n' : 'b'}","n":${i}}`,
    );
    const { count } = await formed(texts, { app: 'x' });
    expect(count).toBe(499);
  });

  test('are those whose name is a label of the stream', async () => {
    const texts = Array.from({ length: 50 }, (_, i) => `app=a${i} n=${i}`);
    expect((await formed(texts, { app: 'x' })).count).toBe(0);
    expect((await formed(texts, { job: 'x' })).count).toBe(50);
  });
});

/** Templates with `@` for each value, and the paths of their fields. */
test.each([
  ['{"a":"@","b":@}', ['a', 'b']],
  ['{"a": {"b": "@", "c": @}, "d": []}', ['a/b', 'a/c']],
  ['{"a":null,"b":"@"}', ['b']],
  ['a=@ b="@"', ['a', 'b']],
  // Constants, and values that are no fields.
  ['{"a":1,"b":"@"}', undefined],
  ['{"a":[@],"b":"@"}', undefined],
  ['{"@":1}', undefined],
  ['{"@":"@"}', undefined],
  ['{"a":"@@"}', undefined],
  ['{"a":"x@"}', undefined],
  ['{"a":1@}', undefined],
  // Names that are those of other fields, or not always of this one.
  ['{"a":"@","a":"@"}', undefined],
  ['{"a":"","a":"@"}', undefined],
  ['{"a.b":"@","a_b":"@"}', undefined],
  ['{"":"@"}', undefined],
  ['{"a":{" ":"@"}}', undefined],
  ['{"a_extracted":"@"}', undefined],
  ['{"__error__":"@"}', undefined],
  ['a=@ a=@', undefined],
  // Not strictly JSON or logfmt.
  ['{"a":"@"} x', undefined],
  ['{"a":"@",}', undefined],
  [' {"a":"@"}', undefined],
  ['a=@ b', undefined],
  ['a=@  b=@', undefined],
  ['a="@', undefined],
  ['@ a=@', undefined],
  ['', undefined],
])('the form of %j', (template, want) => {
  const literals = template.split('@');
  const values = literals.slice(0, -1).map((_, i) => literals.slice(0, i + 1).join('').length);
  const form = formOfTemplate({ text: literals.join(''), values });
  expect(form?.fields.map(({ path }) => path.join('/'))).toEqual(want);
});
