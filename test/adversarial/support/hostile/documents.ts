/** Hostile bodies for the receivers of documents and lines: bulk, JSON lines, and Firehose with CloudWatch envelopes. */
import { gzipSync } from 'node:zlib';
import { gzipOf, type Repeated } from '../packed.ts';
import {
  GB,
  type HostileBody,
  type HostileReceiver,
  MIB,
  MOST_BYTES,
  NOISE,
  once,
  repeated,
  spaces,
} from './pieces.ts';

const HEADERS = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
const CREATE = '{"create":{"_index":"a"}}\n';
const noise = (before = '') => once(`${before}{"_msg":"${NOISE}"}\n`);
const linesOf = (...pieces: readonly Repeated[]) => gzipOf(noise(), ...pieces);
const bulkOf = (...pieces: readonly Repeated[]) => gzipOf(noise(CREATE), ...pieces);
const document = (text: string) => `{"_msg":"${text}"}\n`;
const NESTED = '{"a":{"b":{"c":{"d":{"e":{"f":{"g":"x"}}}}}}}\n';

const JSON_LINES: readonly HostileBody[] = [
  ['1 GB of line feeds', 413, () => gzipOf(repeated('\n'.repeat(1024), GB))],
  ['line feeds', 400, () => linesOf(repeated('\n'.repeat(1024), MOST_BYTES))],
  ['empty documents', 413, () => linesOf(repeated('{}\n', MOST_BYTES))],
  ['one line of spaces', 400, () => linesOf(spaces(MOST_BYTES))],
  ['one line of open brackets', 400, () => linesOf(once('{"a":'), repeated('[', MOST_BYTES))],
  ['one document of fields', 400, () => linesOf(once('{"a":1'), repeated(',"b":1', MOST_BYTES), once('}'))],
  ['one text of escapes', 400, () => linesOf(once('{"a":"'), repeated('\\u0020', MOST_BYTES), once('"}'))],
  ['documents of 200 bytes', 429, () => linesOf(repeated(document('x'.repeat(200)), MOST_BYTES))],
  ['nested documents', 413, () => linesOf(repeated(NESTED, MOST_BYTES))],
];

const BULK: readonly HostileBody[] = [
  ['1 GB of line feeds', 413, () => gzipOf(repeated('\n'.repeat(1024), GB))],
  ['line feeds', 200, () => bulkOf(repeated('\n'.repeat(1024), MOST_BYTES))],
  ['empty documents', 400, () => bulkOf(repeated(`{"create":{}}\n{}\n`, MOST_BYTES))],
  ['one document of spaces', 200, () => bulkOf(once(CREATE), spaces(MOST_BYTES), once('\n'))],
  ['one action of spaces', 400, () => bulkOf(spaces(MOST_BYTES), once('\n'))],
  ['one action of open brackets', 400, () => bulkOf(repeated('[', MOST_BYTES), once('\n'))],
  [
    'one document of fields',
    200,
    () => bulkOf(once(`${CREATE}{"a":1`), repeated(',"b":1', MOST_BYTES), once('}\n')),
  ],
  ['documents of 1 KB', 429, () => bulkOf(repeated(`${CREATE}${document('x'.repeat(1000))}`, MOST_BYTES))],
  ['nested documents', 413, () => bulkOf(repeated(`${CREATE}${NESTED}`, MOST_BYTES))],
];

const record = (data: Buffer) => `{"data":"${data.toString('base64')}"}`;
const request = (...pieces: readonly Repeated[]) =>
  gzipOf(once(`{"${NOISE}":1,"requestId":"r","timestamp":${Date.now()},"records":[`), ...pieces, once(']}'));
const ENVELOPE = '{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"g","logStream":"s","logEvents":[';
const event = (message: string) => `{"id":"1","timestamp":${Date.now()},"message":"${message}"}`;

const FIREHOSE: readonly HostileBody[] = [
  ['1 GB of spaces', 413, () => gzipOf(spaces(GB))],
  ['a record of 1 GB of spaces', 413, () => request(once(record(gzipOf(spaces(GB)))))],
  [
    'records of 1 MB of spaces each',
    413,
    () => {
      const one = record(gzipSync(Buffer.alloc(1e6, ' ')));
      return request(once(one), repeated(`,${one}`, 100 * MIB));
    },
  ],
  ['empty records', 413, () => request(once('{"data":""}'), repeated(',{"data":""}', MOST_BYTES))],
  [
    'records of a line',
    413,
    () => request(once(record(Buffer.from('x'))), repeated(`,${record(Buffer.from('x'))}`, MOST_BYTES)),
  ],
  ['one record of base64', 200, () => request(once('{"data":"'), repeated('eHh4', MOST_BYTES), once('"}'))],
  [
    'an envelope with events of 200 bytes',
    429,
    () => {
      const one = event('x'.repeat(200));
      const events = gzipOf(once(`${ENVELOPE}${one}`), repeated(`,${one}`, 100 * MIB), once(']}'));
      return request(once(record(events)));
    },
  ],
  [
    'an envelope with short events',
    413,
    () => {
      const events = gzipOf(
        once(`${ENVELOPE}${event('')}`),
        repeated(`,${event('')}`, 100 * MIB),
        once(']}'),
      );
      return request(once(record(events)));
    },
  ],
];

export const DOCUMENTS: readonly HostileReceiver[] = [
  { receiver: 'JSON lines', path: '/insert/jsonline', headers: HEADERS, bodies: JSON_LINES },
  { receiver: 'bulk', path: '/_bulk', headers: HEADERS, bodies: BULK },
  { receiver: 'Firehose', path: '/aws/firehose', headers: HEADERS, bodies: FIREHOSE },
];
