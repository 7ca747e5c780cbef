/** Hostile bodies for `/otlp/v1/logs`. */
import { field, messageOf, type Repeated, zstdFrameOf, zstdOf } from '../packed.ts';
import {
  type HostileBody,
  type HostileReceiver,
  MOST_BYTES,
  NOISE,
  once,
  repeated,
  spaces,
} from './pieces.ts';

const PATH = '/otlp/v1/logs';
const SPACE = 0x20;
const SPACES = 1_500_000_000;

const noise = () => once(field(15, NOISE));
const records = (...pieces: readonly Repeated[]) => messageOf(1, ...messageOf(2, noise(), ...pieces));
const record = (body: string) => field(2, field(5, field(1, body)));
const attribute = (key: string, value: string) => Buffer.concat([field(1, key), field(2, field(1, value))]);

const PROTOBUF: readonly HostileBody[] = [
  ['1.5 GB of spaces', 413, () => zstdFrameOf(SPACE, SPACES)],
  ['31 MiB of spaces', 422, () => zstdOf(spaces(31 * 1024 * 1024))],
  ['records of 200 bytes', 429, () => zstdOf(...records(repeated(record('x'.repeat(200)), MOST_BYTES)))],
  ['empty records', 413, () => zstdOf(...records(repeated(Buffer.of(0x12, 0x00), MOST_BYTES)))],
  ['empty resources', 413, () => zstdOf(noise(), repeated(Buffer.of(0x0a, 0x00), MOST_BYTES))],
  [
    'attributes that a million records share',
    413,
    () => {
      const attributes = Array.from({ length: 1000 }, (_, i) => field(1, attribute(`k${i}`, 'v'.repeat(60))));
      const resource = once(field(1, Buffer.concat(attributes)));
      return zstdOf(...messageOf(1, resource, ...messageOf(2, noise(), repeated(record('x'), 9e6))));
    },
  ],
  [
    'one line',
    400,
    () => zstdOf(...records(...messageOf(2, ...messageOf(5, ...messageOf(1, spaces(MOST_BYTES)))))),
  ],
  [
    'one list',
    413,
    () => {
      const values = repeated(field(1, field(1, 'x')), MOST_BYTES);
      return zstdOf(...records(...messageOf(2, ...messageOf(5, ...messageOf(5, values)))));
    },
  ],
];

const RECORDS = `{"${NOISE}":1,"resourceLogs":[{"scopeLogs":[{"logRecords":[`;
const RECORDS_END = ']}]}]}';

const JSON_BODIES: readonly HostileBody[] = [
  ['1.5 GB of spaces', 413, () => zstdFrameOf(SPACE, SPACES)],
  ['300 MB of spaces', 413, () => zstdFrameOf(SPACE, 300e6)],
  ['31 MiB of spaces', 400, () => zstdOf(spaces(31 * 1024 * 1024))],
  ['records of 200 bytes', 429, () => jsonRecords(`{"body":{"stringValue":"${'x'.repeat(200)}"}}`)],
  ['empty records', 413, () => jsonRecords('{}')],
  [
    'empty resources',
    413,
    () => zstdOf(once(`{"${NOISE}":1,"resourceLogs":[{}`), repeated(',{}', MOST_BYTES), once(']}')),
  ],
  [
    'one line of escapes',
    400,
    () =>
      zstdOf(
        once(`${RECORDS}{"body":{"stringValue":"`),
        repeated('\\u0020', MOST_BYTES),
        once(`"}}${RECORDS_END}`),
      ),
  ],
  [
    'one list',
    413,
    () =>
      zstdOf(
        once(`${RECORDS}{"body":{"arrayValue":{"values":[{}`),
        repeated(',{"intValue":1}', MOST_BYTES),
        once(`]}}}${RECORDS_END}`),
      ),
  ],
  [
    'attributes of a resource',
    413,
    () =>
      zstdOf(
        once(`{"${NOISE}":1,"resourceLogs":[{"resource":{"attributes":[{}`),
        repeated(',{"key":"a","value":{"stringValue":"b"}}', MOST_BYTES),
        once(']}}]}'),
      ),
  ],
  ['open brackets', 400, () => zstdOf(once(`{"${NOISE}":`), repeated('[', MOST_BYTES))],
];

function jsonRecords(one: string): Buffer {
  return zstdOf(once(`${RECORDS}{}`), repeated(`,${one}`, MOST_BYTES), once(RECORDS_END));
}

export const OTLP: readonly HostileReceiver[] = [
  {
    receiver: 'OTLP protobuf',
    path: PATH,
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'zstd' },
    bodies: PROTOBUF,
  },
  {
    receiver: 'OTLP JSON',
    path: PATH,
    headers: { 'content-type': 'application/json', 'content-encoding': 'zstd' },
    bodies: JSON_BODIES,
  },
];
