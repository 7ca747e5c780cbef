/** What a small body could turn into: resources count for each record, keys of maps for each of their members. */
import { expect, test } from '@jest/globals';
import { decodeJsonLogs } from '../../../shared/ingest/otlp/json-logs.ts';
import { decodeProtobufLogs } from '../../../shared/ingest/otlp/protobuf-logs.ts';
import { DEFAULT_LIMITS } from '../../../shared/model/limits.ts';
import { refusal } from '../entries.ts';
import { jsonOf, map, type OtlpPair, type OtlpRecord, pairs, protobufOf, text } from './otlp-schema.ts';

const MIB = 1024 * 1024;
const otlpConfig = { ...DEFAULT_LIMITS.otlpConfig, severityTextAsLabel: true };
const context = { limits: { ...DEFAULT_LIMITS, otlpConfig }, nowNs: 1n };

const request = (resource: OtlpPair[], logRecords: OtlpRecord[]) => ({
  resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ logRecords }] }],
});
const records = (count: number, of: (i: number) => OtlpRecord) =>
  Array.from({ length: count }, (_, i) => of(i));
const members = (count: number) =>
  map(Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, text('')])));

// [what, request, message]
test.each([
  [
    'metadata of a resource in each record',
    request(
      pairs({ big: 'x'.repeat(MIB) }),
      records(2048, () => ({})),
    ),
    'more than 2147483647 bytes of metadata',
  ],
  [
    'pairs of a resource in each record',
    request(
      pairs(Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`a${i}`, '']))),
      records(2001, () => ({})),
    ),
    'more than 8000000 metadata pairs',
  ],
  [
    'labels of a resource in each stream',
    request(
      pairs({ 'service.name': 'x'.repeat(MIB) }),
      records(130, i => ({ severityText: `s${i}` })),
    ),
    'more than 134217728 characters of labels',
  ],
  [
    'a long key before many short ones',
    request(pairs({ ['k'.repeat(MIB)]: members(70) }), [{}]),
    'more than 67108864 characters of metadata names',
  ],
  [
    'a long key',
    request(pairs({ ['k'.repeat(MIB + 1)]: 'x' }), [{}]),
    'more than 1048576 bytes of an attribute name',
  ],
  ['many names', request([{ key: 'a', value: members(100_001) }], [{}]), 'more than 100000 metadata names'],
  [
    'a long label',
    request(pairs({ 'service.name': 'x'.repeat(17 * MIB) }), [{}]),
    'stream labels size 18 MB exceeds limit of 17 MB',
  ],
])('%s', (_, sent, message) => {
  const want = [413, `request body too large: ${message}`];
  expect(refusal(() => decodeProtobufLogs(protobufOf(sent), context))).toEqual(want);
  expect(refusal(() => decodeJsonLogs(jsonOf(sent), context))).toEqual(want);
});
