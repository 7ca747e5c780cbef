/** Hostile bodies for `/loki/api/v1/push`. */
import { compress } from 'snappyjs';
import { field, gzipOf, messageOf, type Repeated, snappyOf, varint } from '../packed.ts';
import {
  GB,
  type HostileBody,
  type HostileReceiver,
  MIB,
  MOST_BYTES,
  NOISE,
  nowNs,
  once,
  repeated,
  spaces,
} from './pieces.ts';

const PATH = '/loki/api/v1/push';
const EMPTY_ENTRY = Buffer.of(0x12, 0x00);

const timestamp = () => field(1, Buffer.concat([Buffer.of(0x08), varint(Math.floor(Date.now() / 1000))]));
const entry = (line: string) => field(2, Buffer.concat([timestamp(), field(2, line)]));
const stream = (...entries: readonly Repeated[]) =>
  messageOf(1, once(field(1, '{job="hostile"}')), ...entries);

const PROTOBUF: readonly HostileBody[] = [
  ['320 MB', 413, () => snappyOf(...stream(repeated(entry('x'.repeat(60)), 320e6)))],
  ['99,000 streams', 429, () => Buffer.from(compress(manyStreams(99_000)))],
  ['3.9 million empty entries', 413, () => snappyOf(...stream({ bytes: EMPTY_ENTRY, times: 3_900_000 }))],
  ['990,000 empty entries', 400, () => snappyOf(...stream({ bytes: EMPTY_ENTRY, times: 990_000 }))],
  ['short lines', 413, () => snappyOf(...stream(repeated(entry('x'), MOST_BYTES)))],
  ['lines of 200 bytes', 429, () => snappyOf(...stream(repeated(entry('x'.repeat(200)), MOST_BYTES)))],
  ['lines of 60 KB', 429, () => snappyOf(...stream(repeated(entry('x'.repeat(60_000)), MOST_BYTES)))],
  [
    'one line',
    400,
    () => snappyOf(...stream(...messageOf(2, once(timestamp()), ...messageOf(2, spaces(MOST_BYTES))))),
  ],
  [
    'pairs of metadata in one entry',
    413,
    () => {
      const pair = field(3, Buffer.concat([field(1, 'a'), field(2, 'b')]));
      return snappyOf(...stream(...messageOf(2, once(timestamp()), repeated(pair, MOST_BYTES))));
    },
  ],
  ['unknown fields', 422, () => snappyOf(repeated(field(15, 'x'), MOST_BYTES))],
];

function manyStreams(count: number): Buffer {
  const streams = Array.from({ length: count }, (_, i) =>
    field(1, Buffer.concat([field(1, `{job="${i}"}`), entry('x')])),
  );
  return Buffer.concat(streams);
}

const START = `{"${NOISE}":1,"streams":[{"stream":{"job":"hostile"},"values":[`;
const END = ']}]}';
const line = (text: string) => `["${nowNs()}","${text}"]`;

const JSON_BODIES: readonly HostileBody[] = [
  ['1 GB of spaces', 413, () => gzipOf(spaces(GB))],
  ['31 MiB of spaces', 400, () => gzipOf(spaces(31 * MIB))],
  ['spaces in an object', 413, () => gzipOf(once(`{"${NOISE}":1`), spaces(MOST_BYTES), once('}'))],
  ['open brackets', 400, () => gzipOf(once(`{"${NOISE}":`), repeated('[', MOST_BYTES))],
  [
    'numbers of an unknown key',
    422,
    () => gzipOf(once(`{"${NOISE}":[0`), repeated(',0', MOST_BYTES), once(']}')),
  ],
  [
    'escapes of an unknown key',
    422,
    () => gzipOf(once(`{"${NOISE}":"`), repeated('\\u0020', MOST_BYTES), once('"}')),
  ],
  ['lines of 200 bytes', 429, () => jsonLines('x'.repeat(200))],
  ['lines of 60 KB', 429, () => jsonLines('x'.repeat(60_000))],
  ['short lines', 413, () => jsonLines('x')],
  [
    'one line of escapes',
    400,
    () => gzipOf(once(`${START}["${nowNs()}","`), repeated('\\u0020', MOST_BYTES), once(`"]${END}`)),
  ],
  [
    'empty streams',
    413,
    () =>
      gzipOf(
        once(`{"${NOISE}":1,"streams":[{"stream":{}`),
        repeated('},{"stream":{}', MOST_BYTES),
        once('}]}'),
      ),
  ],
];

function jsonLines(text: string): Buffer {
  return gzipOf(once(START), repeated(`${line(text)},`, MOST_BYTES), once(`${line('x')}${END}`));
}

export const LOKI: readonly HostileReceiver[] = [
  {
    receiver: 'Loki protobuf',
    path: PATH,
    headers: { 'content-type': 'application/x-protobuf' },
    bodies: PROTOBUF,
  },
  {
    receiver: 'Loki JSON',
    path: PATH,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    bodies: JSON_BODIES,
  },
];
