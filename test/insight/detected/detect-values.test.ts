import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_DETECTED_VALUES } from '../../../shared/read/insight/detected/bounds.ts';
import { detectValues } from '../../../shared/read/insight/detected/detect-values.ts';
import { shownValue } from '../../../shared/read/insight/detected/value-type.ts';
import { labelsAfter } from '../../pipeline/support.ts';
import { streamOf, type Texts, valuesOf } from './support.ts';

test.each<[string, string, Parameters<typeof streamOf>[0], readonly string[]]>([
  ['logfmt and JSON', 'a', ['a=1', '{"a":"x","b":"no"}', 'a=1', 'b=3', '{"a":null}'], ['1', 'x']],
  ['metadata', 'a', [{ line: 'x', metadata: { a: 'm' } }, 'a=1'], ['1', 'm']],
  ['what the query parsed', 'a', [{ line: 'a=1', parsed: { a: '2' } }], ['1', '2']],
  ['nested JSON', 'a_b', ['{"a":{"b":true}}', 'a_b=x'], ['true', 'x']],
  [
    'sizes of lines in short',
    'a',
    ['a=1500000B', '{"a":"2 KiB"}', 'a=12', 'a=5m'],
    ['1.5MB', '12', '2.0kB', '5m'],
  ],
  ['sizes of metadata as they are', 'a', [{ line: '', metadata: { a: '1500000B' } }], ['1500000B']],
  ['a name of the stream', 'app', ['app=1'], []],
  ['its suffixed form', 'app_extracted', ['app=1', '{"app":"2"}'], ['1', '2']],
  ['a name that nothing has', 'zz', ['a=1'], []],
  ['errors', '__error__', [{ line: '__error__=x', parsed: { __error__: 'e' } }], []],
  ['empty JSON text', 'a', ['{"a":""}', 'a='], ['']],
  ['escapes', 'a', ['{"a":"x\\ny"}', 'a="\\t"'], ['\t', 'x\ny']],
])('%s', async (_name, field, entries, want) => {
  expect(await valuesOf([streamOf(entries)], field)).toEqual(want);
});

test('finds the values of a field of several streams', async () => {
  const streams = [streamOf(['level=x'], { level: 'y' }), streamOf(['level=z'])];
  expect(await valuesOf(streams, 'level')).toEqual(['z']);
  expect(await valuesOf(streams, 'level_extracted')).toEqual(['x']);
});

test('returns as many values as requested, in order of appearance', async () => {
  const lines = ['a=9', 'a=8', 'a=9', 'a=7', 'a=6'];
  expect(await valuesOf([streamOf(lines)], 'a', 3)).toEqual(['7', '8', '9']);
  expect(
    await valuesOf([streamOf([{ line: 'a=1', metadata: { a: '2' }, parsed: { a: '3' } }])], 'a', 1),
  ).toEqual(['2']);
});

test('returns at most as many values as one answer may have', async () => {
  const { signal } = new AbortController();
  const lines = Array.from({ length: MAX_DETECTED_VALUES + 3 }, (_, i) => `a=${i}`);
  const { values, limit } = await detectValues([streamOf(lines)], 'a', { limit: 2 ** 32 - 1, signal });
  expect([values.length, limit]).toEqual([MAX_DETECTED_VALUES, MAX_DETECTED_VALUES]);
});

test('values are those of `| json` or `| logfmt` on the same lines', async () => {
  const value = fc.oneof(
    fc.constantFrom('1', '10MB', '5s', 'x'),
    fc.string({ unit: 'grapheme', maxLength: 5 }),
  );
  const line = fc.oneof(
    value.map(a => JSON.stringify({ a })),
    value.map(a => `a=${a}`),
    value.map(a => `b=1 a=${JSON.stringify(a)}`),
    value,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async lines => {
      const want = lines.map(text => {
        const json = labelsAfter('| json', text) as Texts;
        return ('__error__' in json ? (labelsAfter('| logfmt', text) as Texts) : json).a;
      });
      const shown = want.filter(found => found !== undefined).map(shownValue);
      expect(new Set(await valuesOf([streamOf(lines)], 'a'))).toEqual(new Set(shown));
    }),
  );
});
