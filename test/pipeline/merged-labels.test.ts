import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { type Entry, runLog, type Texts } from './support.ts';

const NAMES = ['app', 'app_extracted', 'm', 'm_extracted', 'z', 'é'];
const value = fc.constantFrom('', '1', 'x"y', 'a\\b', 'é', '\ud800');
const texts = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 4 }) as fc.Arbitrary<Texts>;
const line = fc.oneof(
  texts.map(fields => JSON.stringify(fields)),
  fc
    .array(fc.tuple(fc.constantFrom('b', 'm', 'app', 'z'), fc.constantFrom('1', '22')), { maxLength: 4 })
    .map(fields => fields.map(([name, text]) => `${name}=${text}`).join(' ')),
  fc.constant('{broken'),
);
const entry: fc.Arbitrary<Entry> = fc.record({
  line,
  stream: fc.constantFrom<Texts>({ app: 'x' }, { app: 'x', z: '9' }, { app: 'x', m: '0' }),
  metadata: texts,
});
const STAGES = [
  '| json',
  '| logfmt',
  '| json | logfmt',
  '| json | drop m',
  '| logfmt | keep app, m',
  '| json | label_format b=z, z="{{.m}}"',
  '| json | __error__="" | line_format "{{.m}}"',
  '| pattern "<b>=<m> <z>"',
];

test('labels of a row are those of its categories together', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...STAGES),
      fc.array(entry, { minLength: 1, maxLength: 12 }),
      (stages, entries) => {
        for (const { labels, text, stream, structuredMetadata, parsed } of runLog(stages, entries)) {
          expect(labels).toEqual({ ...parsed, ...structuredMetadata, ...stream });
          expect(text).toBe(formatLabels(labelsOf(labels)));
        }
      },
    ),
    { numRuns: 400 },
  );
});
