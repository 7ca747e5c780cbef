/**
 * `discover_generic_fields` (docs/dev/wire-format.md#detected_level): how a field is found, and what is added
 * to the entry.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { findJsonValue } from '../../shared/write/ingest/line-fields.ts';
import { acceptedEntries } from './entries.ts';

const NOW = 1_704_164_645_500_000_000n;
type Metadata = Record<string, string>;
interface Given {
  readonly line?: string;
  readonly metadata?: Metadata;
  readonly labels?: Metadata;
}

/** The metadata of each entry, without the level. */
function discover(fields: Record<string, string[]>, given: readonly Given[], more: Partial<Limits> = {}) {
  const streams = given.map(({ line = '', metadata = {}, labels = { zone: 'z' } }) => ({
    stream: labels,
    values: [[String(NOW), line, metadata]],
  }));
  const limits = { ...DEFAULT_LIMITS, discoverGenericFields: new Map(Object.entries(fields)), ...more };
  const columns = atOnce(decodeJsonPush(Buffer.from(JSON.stringify({ streams }))));
  const { accepted } = atOnce(acceptPush(columns, { tenant: 't', limits, nowNs: NOW }));
  return acceptedEntries(accepted).map(({ metadata }) =>
    Object.fromEntries(metadata.filter(([name]) => name !== 'detected_level')),
  );
}

describe('a single generic field', () => {
  // [case, hints, entry, metadata]
  const rows: [string, string[], Given, Metadata][] = [
    ['nowhere', ['org'], { line: 'text' }, {}],
    ['label', ['org'], { labels: { org: 'x' } }, { f: 'x' }],
    ['label by the order of the hints', ['b', 'a'], { labels: { a: '1', b: '2' } }, { f: '2' }],
    ['metadata', ['org'], { metadata: { org: 'é' } }, { org: 'é', f: 'é' }],
    [
      'metadata by the order of the hints',
      ['b', 'a'],
      { metadata: { a: '1', b: '2' } },
      { a: '1', b: '2', f: '2' },
    ],
    ['metadata by its stored name', ['a_b'], { metadata: { 'a.b': '1' } }, { a_b: '1', f: '1' }],
    ['label before metadata', ['a', 'b'], { labels: { b: '1' }, metadata: { a: '2' } }, { a: '2', f: '1' }],
    ['metadata before the line', ['a', 'b'], { metadata: { b: '1' }, line: 'a=2' }, { b: '1', f: '1' }],
    ['empty metadata is none', ['a'], { metadata: { a: '' }, line: 'a=2' }, { f: '2' }],
    ['its own stays', ['a'], { metadata: { f: 'mine' }, labels: { a: '1' } }, { f: 'mine' }],
    ['logfmt', ['org'], { line: 'a=1 org=x b=2' }, { f: 'x' }],
    ['logfmt, any letter case', ['org'], { line: 'ORG=x' }, { f: 'x' }],
    ['logfmt by the order of the hints', ['b', 'a'], { line: 'a=1 b=2' }, { f: '2' }],
    ['logfmt, quoted', ['org'], { line: 'org="x y" z=1' }, { f: 'x y' }],
    ['logfmt, empty', ['org'], { line: 'org= z=1' }, {}],
    ['logfmt ends at a fault', ['org'], { line: 'a=1 b=c=d org=x' }, {}],
    ['logfmt before a fault', ['org'], { line: 'org=x b=c=d' }, { f: 'x' }],
    ['a bare word is no value', ['org'], { line: 'org x' }, {}],
    ['json', ['org'], { line: '{"org":"x"}' }, { f: 'x' }],
    ['json, letter case counts', ['org'], { line: '{"ORG":"x"}' }, {}],
    ['json with spaces', ['org'], { line: ' { "a" : [1, {"org":2}] , "org" : "x" } ' }, { f: 'x' }],
    ['json number', ['org'], { line: '{"org":42}' }, { f: '42' }],
    ['json null', ['org'], { line: '{"org":null}' }, { f: 'null' }],
    ['json object', ['org'], { line: '{"org":{"a":[1]},"b":1}' }, { f: '{"a":[1]}' }],
    ['json escapes stay', ['org'], { line: '{"org":"a\\nb"}' }, { f: 'a\\nb' }],
    ['json path', ['user.id'], { line: '{"user":{"name":"n","id":"x"}}' }, { f: 'x' }],
    ['json path with an index', ['tags[1].k'], { line: '{"tags":[{"k":1},{"k":2}]}' }, { f: '2' }],
    ['json index past the end', ['tags[2]'], { line: '{"tags":[1,2]}' }, {}],
    ['json hint that is no path', ['a b', 'org'], { line: '{"org":"x"}' }, { f: 'x' }],
    ['json by the order of the hints', ['b', 'a'], { line: '{"a":1,"b":2}' }, { f: '2' }],
    ['json, empty ends it', ['a', 'b'], { line: '{"a":"","b":2}' }, {}],
    ['json that breaks off', ['org'], { line: '{"a":"x,"org":"y"}' }, {}],
  ];
  test.each(rows)('%s', (_, hints, entry, want) => {
    expect(discover({ f: hints }, [entry])).toEqual([want]);
  });
});

test('several generic fields see the original entry, and each entry gets its own', () => {
  expect(
    discover({ f: ['a'], g: ['f', 'b'], 'h.i': ['c'] }, [
      { line: 'a=1 b=2', metadata: { k: 'v' } },
      { line: 'nothing' },
      { line: 'c=3', metadata: { k: 'w' } },
    ]),
  ).toEqual([{ k: 'v', f: '1', g: '2' }, {}, { k: 'w', h_i: '3' }]);
});

test('generic fields are disabled without structured metadata', () => {
  expect(discover({ f: ['zone'] }, [{}], { allowStructuredMetadata: false })).toEqual([{}]);
});

test('bytes of a line that are not UTF-8 become spaces', () => {
  const body = Buffer.from(`{"streams":[{"stream":{"zone":"z"},"values":[["${NOW}","a=x?y"]]}]}`);
  body[body.indexOf('?')] = 0xff;
  const limits = { ...DEFAULT_LIMITS, discoverGenericFields: new Map([['f', ['a']]]) };
  const { accepted } = atOnce(acceptPush(atOnce(decodeJsonPush(body)), { tenant: 't', limits, nowNs: NOW }));
  expect(acceptedEntries(accepted)[0].metadata).toContainEqual(['f', 'x y']);
});

/** Value of parsed JSON at one step of a path. */
function at(value: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).find(([key]) => key === step)?.[1];
}

test('property: a path finds the same value as JSON.parse', () => {
  const key = fc.stringMatching(/^[a-c]$/);
  const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.integer(),
      fc.stringMatching(/^[ -!#-[\]-~]*$/),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
    ),
  }));
  const path = fc.array(fc.oneof(key, fc.nat(3)), { maxLength: 4 });
  fc.assert(
    fc.property(
      fc.dictionary(key, tree, { noNullPrototype: true }),
      path,
      fc.constantFrom(0, 2),
      (root, steps, indent) => {
        let want: unknown = root;
        for (const step of steps) {
          want = at(want, step);
        }
        const bytes = Buffer.from(JSON.stringify(root, undefined, indent));
        const range = { start: 0, end: 0 };
        const asBytes = steps.map(step => (typeof step === 'number' ? step : Buffer.from(step)));
        const found = findJsonValue(bytes, 0, bytes.length, asBytes, range);
        expect(found).toBe(want !== undefined);
        if (!found) return;
        const text = bytes.utf8Slice(range.start, range.end);
        expect(typeof want === 'string' ? text : JSON.parse(text)).toEqual(want);
      },
    ),
  );
});

test('property: parsing any bytes as JSON ends inside the line', () => {
  const text = fc
    .array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' '))
    .map(all => all.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.oneof(fc.constant('a'), fc.nat(2)), { maxLength: 3 }), (line, steps) => {
      const bytes = Buffer.from(`${line}"}]`);
      const end = bytes.length - 3;
      const range = { start: 0, end: 0 };
      const found = findJsonValue(
        bytes,
        0,
        end,
        steps.map(s => (typeof s === 'number' ? s : Buffer.from(s))),
        range,
      );
      if (found) expect(range.start >= 0 && range.start <= range.end && range.end <= end).toBe(true);
    }),
  );
});
