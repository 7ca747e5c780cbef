/**
 * Bounds on what a small body can expand to: resources count for each record, map keys for each of their
 * members.
 */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { atOnce } from '../../../shared/base/model/steps.ts';
import { decodeJsonLogs } from '../../../shared/write/ingest/otlp/json-logs.ts';
import { decodeProtobufLogs } from '../../../shared/write/ingest/otlp/protobuf-logs.ts';
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

// [case, request, message]
test.each([
  [
    'metadata of a resource in each record',
    request(
      pairs({ big: 'x'.repeat(MIB) }),
      records(513, () => ({})),
    ),
    'more than 536870912 bytes of metadata',
  ],
  [
    'pairs of a resource in each record',
    request(
      pairs(Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`a${i}`, '']))),
      records(1001, () => ({})),
    ),
    'more than 4000000 metadata pairs',
  ],
  [
    'labels of a resource in each stream',
    request(
      pairs({ 'service.name': 'x'.repeat(MIB / 4 - 100) }),
      records(130, i => ({ severityText: `s${i}` })),
    ),
    'more than 33554432 characters of labels',
  ],
  [
    'a long key before many short ones',
    request(pairs({ ['k'.repeat(MIB / 16)]: members(260) }), [{}]),
    'more than 16777216 characters of metadata names',
  ],
  [
    'a long key',
    request(pairs({ ['k'.repeat(MIB / 16 + 1)]: 'x' }), [{}]),
    'more than 65536 bytes of an attribute name',
  ],
  [
    'many names',
    request(
      [],
      records(3, i => ({ attributes: [{ key: `a${i}`, value: members(33_400) }] })),
    ),
    'more than 100000 metadata names',
  ],
  [
    'many values in one record',
    request([{ key: 'a', value: members(65_537) }], [{}]),
    'more than 65536 values in arrays and maps of one record',
  ],
  [
    'a large value that becomes text',
    request([{ key: 'a', value: map({ b: text('x'.repeat(MIB)) }) }], [{}]),
    'more than 1048576 bytes of arrays, maps and bytes in one record',
  ],
  [
    'large values of one record together',
    request(
      [],
      [{ attributes: [0, 1, 2].map(i => ({ key: `a${i}`, value: map({ b: text('x'.repeat(400_000)) }) })) }],
    ),
    'more than 1048576 bytes of arrays, maps and bytes in one record',
  ],
  [
    'a long label',
    request(pairs({ 'service.name': 'x'.repeat(17 * MIB) }), [{}]),
    'stream labels size 18 MB exceeds limit of 17 MB',
  ],
])('an OTLP request with %s is refused', (_, sent, message) => {
  const want = [413, `request body too large: ${message}`];
  expect(refusal(() => atOnce(decodeProtobufLogs(protobufOf(sent), context)))).toEqual(want);
  expect(refusal(() => atOnce(decodeJsonLogs(jsonOf(sent), context)))).toEqual(want);
});

test('labels of 300,000 bytes are refused', () => {
  const sent = request(pairs({ 'service.name': 'x'.repeat(300_000) }), [{}]);
  const want = [400, "couldn't parse labels: 300000 bytes, more than 262144"];
  expect(refusal(() => atOnce(decodeProtobufLogs(protobufOf(sent), context)))).toEqual(want);
  expect(refusal(() => atOnce(decodeJsonLogs(jsonOf(sent), context)))).toEqual(want);
});
