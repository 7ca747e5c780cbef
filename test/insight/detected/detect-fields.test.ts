import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HyperLogLog } from '../../../shared/base/model/hyperloglog.ts';
import { hashOfText } from '../../../shared/base/model/text-hash.ts';
import {
  MAX_CACHED_NAME_CHARACTERS,
  MAX_DETECTED_FIELDS,
  MAX_LABEL_NAME_CHARACTERS,
  PAGE_ROWS,
} from '../../../shared/read/insight/detected/bounds.ts';
import { detectFields } from '../../../shared/read/insight/detected/detect-fields.ts';
import { detectedTypeOf } from '../../../shared/read/insight/detected/value-type.ts';
import { labelsAfter } from '../../pipeline/support.ts';
import { fieldsOf, streamOf, type Texts } from './support.ts';

/** `type cardinality parsers path`. */
type Row = readonly [string, number, readonly string[] | null, (readonly string[])?];

async function rowsOf(...args: Parameters<typeof fieldsOf>): Promise<Record<string, Row>> {
  const fields = Object.values(await fieldsOf(...args));
  return Object.fromEntries(
    fields.map(({ label, type, cardinality, parsers, jsonPath }) => [
      label,
      jsonPath === undefined ? [type, cardinality, parsers] : [type, cardinality, parsers, jsonPath],
    ]),
  );
}

const JSON_ONLY = ['json'] as const;
const LOGFMT_ONLY = ['logfmt'] as const;
const BOTH = ['json', 'logfmt'] as const;

describe('detected fields', () => {
  test.each<[string, Parameters<typeof streamOf>[0], Record<string, Row>]>([
    ['nothing', ['', 'plain text', '[1,2]', '17'], {}],
    ['logfmt', ['a=1 b="x y" c= d'], { a: ['int', 1, LOGFMT_ONLY], b: ['string', 1, LOGFMT_ONLY] }],
    [
      'JSON, nested',
      ['{"a":1,"b":{"c-d":"x"},"e":null,"f":[1]}'],
      { a: ['int', 1, JSON_ONLY, ['a']], b_c_d: ['string', 1, JSON_ONLY, ['b', 'c-d']] },
    ],
    ['a line each of JSON and logfmt', ['a=1', '{"a":2}', 'a=2'], { a: ['int', 2, BOTH, ['a']] }],
    [
      'nothing of JSON that breaks off: it is read as logfmt',
      ['{"a":1,"b":2', '{"a":1} b=2'],
      { a: ['int', 1, JSON_ONLY, ['a']] },
    ],
    [
      'a name of the stream with its suffix',
      ['app=1', '{"app":"2","n":{"app":3}}'],
      { app_extracted: ['int', 2, BOTH, ['app']], n_app: ['int', 1, JSON_ONLY, ['n', 'app']] },
    ],
    [
      'structured metadata, which collides with nothing',
      [
        { line: 'a=1', metadata: { a: '2', level: 'info' } },
        { line: 'x', metadata: { level: 'warn' } },
      ],
      { a: ['int', 2, LOGFMT_ONLY], level: ['string', 2, null] },
    ],
    [
      'what the query parsed, beside what the line says',
      [{ line: 'a=1', parsed: { a_extracted: '1', b: '5s' } }],
      {
        a: ['int', 1, LOGFMT_ONLY],
        a_extracted: ['int', 1, LOGFMT_ONLY],
        b: ['duration', 1, LOGFMT_ONLY],
      },
    ],
    [
      'no errors',
      [
        {
          line: '__error__=x a=1',
          parsed: { __error__: 'e', __error_details__: 'd', __preserve_error__: 'true' },
        },
        '{"__error__":"x"}',
      ],
      { a: ['int', 1, LOGFMT_ONLY] },
    ],
    ['empty JSON values', ['{"a":""}'], { a: ['string', 1, JSON_ONLY, ['a']] }],
    ['escapes, read', ['{"a":"x\\u0079"}', 'a="x\\u0079"', 'a=xy'], { a: ['string', 1, BOTH, ['a']] }],
    ['text outside of ASCII', ['a=é', '{"a":"é"}', 'a="\\u00e9"'], { a: ['string', 1, BOTH, ['a']] }],
  ])('%s', async (_name, entries, want) => {
    expect(await rowsOf([streamOf(entries)])).toEqual(want);
  });

  test('a path of the first line that has one', async () => {
    const want = { a_b: ['int', 2, JSON_ONLY, ['a', 'b']] };
    expect(await rowsOf([streamOf(['{"a":{"b":1}}', '{"a_b":2}'])])).toEqual(want);
  });

  test('resolves collisions of each stream by itself', async () => {
    const streams = [streamOf(['level=x'], { level: 'y' }), streamOf(['level=z'], { app: 'a' })];
    expect(await rowsOf(streams)).toEqual({
      level: ['string', 1, LOGFMT_ONLY],
      level_extracted: ['string', 1, LOGFMT_ONLY],
    });
  });
});

describe('the type is that of the last value met', () => {
  test.each<[string, Parameters<typeof streamOf>[0], string]>([
    ['of lines', ['a=1', 'a=2.5', 'a=true'], 'boolean'],
    ['of lines, the other way round', ['a=true', 'a=2.5', 'a=1'], 'int'],
    ['of metadata', [{ line: 'a=1', metadata: { a: 'x' } }], 'int'],
    ['of a later entry’s metadata', [{ line: 'a=1' }, { line: '', metadata: { a: '5s' } }], 'duration'],
    ['of what the query parsed', ['a=1', { line: '', parsed: { a: '5MB' } }], 'bytes'],
    ['that has an escape', ['a=1', '{"a":"\\u0035s"}'], 'duration'],
  ])('%s', async (_name, entries, type) => {
    expect((await fieldsOf([streamOf(entries)])).a.type).toBe(type);
  });

  test('takes the last type over pages and streams', async () => {
    const many = Array.from(
      { length: PAGE_ROWS + 10 },
      (_, i) => `a=${i} b=${i < 5 ? '1s' : 'x'} ${i === 3 ? 'c=7' : ''}`,
    );
    const found = await rowsOf([streamOf(many), streamOf(['b=4KB'], { app: 'y' })]);
    expect(found.a[0]).toBe('int');
    expect(found.a[1]).toBeGreaterThan((PAGE_ROWS + 10) * 0.93);
    expect(found.a[1]).toBeLessThan((PAGE_ROWS + 10) * 1.07);
    expect(found.b).toEqual(['bytes', 3, LOGFMT_ONLY]);
    expect(found.c).toEqual(['int', 1, LOGFMT_ONLY]);
  });
});

describe('bounds', () => {
  test('ignores new names at the requested number of fields', async () => {
    const stream = streamOf([{ line: 'b=1 c=2', metadata: { a: 'x' } }, 'd=1 b=2']);
    expect(await rowsOf([stream], 2)).toEqual({ a: ['string', 1, null], b: ['int', 2, LOGFMT_ONLY] });
  });

  test('returns fewer fields if more are requested than a response may have', async () => {
    const line = Array.from({ length: MAX_DETECTED_FIELDS + 7 }, (_, i) => `k${i}=1`).join(' ');
    const { signal } = new AbortController();
    const { fields, limit } = await detectFields([streamOf([line])], { limit: 2 ** 32 - 1, signal });
    expect([fields.length, limit]).toEqual([MAX_DETECTED_FIELDS, MAX_DETECTED_FIELDS]);
  });

  test('names that are too long are none', async () => {
    const name = 'k'.repeat(MAX_LABEL_NAME_CHARACTERS);
    expect(Object.keys(await fieldsOf([streamOf([`${name}=1 ${name}k=2`])]))).toEqual([name]);
  });

  test('finds more names than the parser keeps', async () => {
    const lines = Array.from({ length: 50 }, (_, i) =>
      Array.from({ length: 3000 }, (_, j) => `k${i}_${j}=1`).join(' '),
    );
    const found = await fieldsOf([streamOf([...lines, 'k0_0=2s z=1'])], 3000);
    expect(Object.keys(found)).toHaveLength(3000);
    expect(found.k0_0).toMatchObject({ type: 'duration', cardinality: 2 });
    expect(found.z).toBeUndefined();
  });

  test.each([
    ['a long line', 1],
    ['many lines, each with other keys', 40],
  ])('keys that nest into names of gigabytes: %s', async (_name, count) => {
    const hostile = (i: number) => {
      const inner = Array.from({ length: 20_000 }, (_, j) => `"k${j}":1`).join(',');
      return `{"${`n${i}`.padEnd(50_000, 'x')}":{${inner}}}`;
    };
    const lines = Array.from({ length: count }, (_, i) => hostile(i));
    const found = await fieldsOf([streamOf([...lines, '{"a":{"b":1}}'])]);
    expect(Object.keys(found)).toEqual(['a_b']);
  });

  test('the parser restarts after many long names in many lines, and the fields stay', async () => {
    const names = Math.ceil((2 * MAX_CACHED_NAME_CHARACTERS) / 1000 / 2);
    const lines = Array.from({ length: names }, (_, i) => `a=${i % 5} ${`k${i}_`.padEnd(1000, 'x')}=1 z=2`);
    const found = await fieldsOf([streamOf(lines)], 10);
    expect(found.a).toMatchObject({ type: 'int', cardinality: 5 });
    expect(found.z).toMatchObject({ type: 'int', cardinality: 1 });
    expect(Object.keys(found)).toHaveLength(10);
  });

  test('an aborted request ends', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(detectFields([streamOf(['a=1'])], { limit: 10, signal })).rejects.toThrow('gone');
  });
});

/** Fields that a query would parse: JSON, or logfmt if that fails. */
function parsedOf(line: string): Texts {
  const json = labelsAfter('| json', line) as Texts;
  const { __error__, __error_details__, ...found } =
    '__error__' in json ? (labelsAfter('| logfmt', line) as Texts) : json;
  return found;
}

test('fields and values are those of `| json` or `| logfmt` on the same lines', async () => {
  const name = fc.constantFrom('a', 'b', 'c-d', 'app', 'é', '9', 'a_b');
  const value = fc.oneof(
    fc.constantFrom('1', '2.5', 'true', '5s', '10MB', 'x', '', 'é', 'a\\u0062', '\ufffd'),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  );
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 6 });
  const line = fc.oneof(
    fc.jsonValue().map(json => JSON.stringify(json)),
    fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value))).map(json => JSON.stringify(json)),
    pairs.map(list => list.map(([key, text]) => `${key}=${text}`).join(' ')),
    pairs.map(list => list.map(([key, text]) => `${key}=${JSON.stringify(text)}`).join(' ')),
    fc.string({ unit: fc.constantFrom('{', '}', '"', ':', ',', '=', ' ', 'a', 'b', '1', '\\', '[', ']') }),
    fc.string({ unit: 'binary' }).map(text => text.toWellFormed()),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async lines => {
      const counts = new Map<string, HyperLogLog>();
      const last = new Map<string, string>();
      for (const text of lines) {
        for (const [label, found] of Object.entries(parsedOf(text))) {
          const count = counts.get(label) ?? new HyperLogLog();
          counts.set(label, count);
          count.add(hashOfText(found));
          last.set(label, found);
        }
      }
      const fields = await fieldsOf([streamOf(lines)]);
      const found = Object.values(fields).map(({ label, type, cardinality }) => [label, type, cardinality]);
      const want = [...counts].map(([label, count]) => [
        label,
        detectedTypeOf(last.get(label)!),
        count.count(),
      ]);
      expect(found.sort()).toEqual(want.sort());
      for (const { parsers, jsonPath } of Object.values(fields)) {
        expect(parsers).not.toBeNull();
        expect(jsonPath === undefined).toBe(!parsers!.includes('json'));
      }
    }),
  );
});
