/**
 * Mistakes of clients, and hostile input: every rule of docs/dev/wire-format.md#push, #tenant-ids, that is
 * about input, with status and text. Sizes are meant for a store with the two limits named here.
 */
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { NS_PER_MINUTE, NS_PER_SECOND } from '../../../shared/base/model/time-units.ts';
import {
  JSON_TYPE,
  jsonPush,
  PROTOBUF_TYPE,
  type PushedEntry,
  protobufPush,
  snappyPush,
  snappyPushOfText,
} from './push.ts';

export const MAX_BODY_BYTES = 2 * 1024 * 1024;
export const MAX_DECOMPRESSED_BYTES = 24 * 1024 * 1024;
export const NOW = BigInt(Date.now()) * 1_000_000n;
const LABELS = { app: 'bad' };
/** The stream as it is stored and as messages show it. */
const STREAM = '{app="bad", service_name="bad"}';
const STRING = `Value is string, but can't find closing '"' symbol`;
const OBJECT = `Value looks like object, but can't find closing '}' symbol`;
const ARRAY = `Value is array, but can't find closing ']' symbol`;

export interface Sent {
  readonly type?: string | null;
  readonly encoding?: string;
  readonly tenant?: string | null;
  readonly body: string | Uint8Array;
}

type Row = readonly [what: string, sent: Sent, status: number, text: string];

const entry: PushedEntry = { ns: NOW, line: 'line' };
const good = [{ labels: LABELS, entries: [entry] }];
const values = (text: string): string => `{"streams":[{"stream":{"app":"bad"},"values":[${text}]}]}`;
export const value = (rest: string): string => values(`["${NOW}",${rest}]`);
export const labeled = (object: string): string =>
  `{"streams":[{"stream":${object},"values":[["${NOW}","x"]]}]}`;
const text = (labels: string): Sent => ({ type: PROTOBUF_TYPE, body: snappyPushOfText(labels, entry) });
const at = (ns: bigint | string): string => values(`["${ns}","x"]`);
export const metadata = (pairs: Record<string, string>): string => value(`"x",${JSON.stringify(pairs)}`);
export const many = (count: number, length = 1): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 'v'.repeat(length)]));
const rfc3339 = (ns: bigint): string =>
  `${new Date(Number(ns / NS_PER_SECOND) * 1000).toISOString().slice(0, 19)}Z`;
const invalidUtf8 = (json: string): Uint8Array => Buffer.from(json.replaceAll('?', '\xff'), 'latin1');
const zeros = (bytes: number): Uint8Array => Buffer.alloc(bytes);
/** A snappy block that declares a length and holds nothing. */
const declared = (bytes: number): Uint8Array => {
  const length: number[] = [];
  for (let left = bytes; ; left = Math.floor(left / 128)) {
    length.push(left < 128 ? left : (left % 128) + 128);
    if (left < 128) return Uint8Array.from(length);
  }
};
/** The framing format starts with its own name. */
const SNAPPY_FRAMED = Buffer.from('\xff\x06\x00\x00sNaPpY', 'latin1');

const tooOld = `entry for stream '${STREAM}' has timestamp too old: `;
const tooNew = `entry for stream '${STREAM}' has timestamp too new: `;
const READS = 'request body too large: ';
const decompressed = `${READS}decompressed message size too large than max (${MAX_DECOMPRESSED_BYTES + 1} vs ${MAX_DECOMPRESSED_BYTES})`;

const CONTENT: readonly Row[] = [
  ['no content type', { type: null, body: jsonPush(good) }, 400, 'mime: no media type'],
  ['an empty content type', { type: '', body: jsonPush(good) }, 400, 'mime: no media type'],
  ['zstd', { encoding: 'zstd', body: jsonPush(good) }, 400, 'Content-Encoding "zstd" not supported'],
  ['br', { encoding: 'br', body: jsonPush(good) }, 400, 'Content-Encoding "br" not supported'],
  [
    'identity',
    { encoding: 'identity', body: jsonPush(good) },
    400,
    'Content-Encoding "identity" not supported',
  ],
  ['JSON said to be protobuf', { type: PROTOBUF_TYPE, body: jsonPush(good) }, 400, 'snappy: corrupt input'],
  ['protobuf said to be JSON', { type: JSON_TYPE, body: snappyPush(good) }, 400, ''],
  [
    'protobuf without snappy',
    { type: PROTOBUF_TYPE, body: protobufPush(good) },
    400,
    'snappy: corrupt input',
  ],
  ['snappy framing', { type: PROTOBUF_TYPE, body: SNAPPY_FRAMED }, 400, 'snappy: corrupt input'],
  ['gzip that is none', { encoding: 'gzip', body: jsonPush(good) }, 400, 'gzip: invalid header'],
  [
    'gzip cut off',
    { encoding: 'gzip', body: gzipSync(jsonPush(good)).subarray(0, -12) },
    400,
    'unexpected EOF',
  ],
  ['deflate with a zlib header', { encoding: 'deflate', body: deflateSync(jsonPush(good)) }, 400, ''],
  [
    'deflate cut off',
    { encoding: 'deflate', body: deflateRawSync(jsonPush(good)).subarray(0, -9) },
    400,
    'unexpected EOF',
  ],
  ['an empty JSON body', { body: '' }, 400, 'EOF'],
  ['an empty protobuf body', { type: PROTOBUF_TYPE, body: '' }, 400, ''],
  [
    'snappy cut off',
    { type: PROTOBUF_TYPE, body: snappyPush(good).subarray(0, -5) },
    400,
    'snappy: corrupt input',
  ],
  [
    'protobuf cut off',
    { type: PROTOBUF_TYPE, encoding: 'gzip', body: gzipSync('\x04\x0c\x0a\xff\xff\xff') },
    400,
    '',
  ],
];

const SIZES: readonly Row[] = [
  [
    'a body over the limit',
    { body: zeros(MAX_BODY_BYTES + 1) },
    413,
    `${READS}message size too large than max (${MAX_BODY_BYTES + 1} vs ${MAX_BODY_BYTES})`,
  ],
  ['a gzip bomb', { encoding: 'gzip', body: gzipSync(zeros(200_000_000)) }, 413, decompressed],
  ['a deflate bomb', { encoding: 'deflate', body: deflateRawSync(zeros(200_000_000)) }, 413, decompressed],
  [
    'a gzip bomb of protobuf',
    { type: PROTOBUF_TYPE, encoding: 'gzip', body: gzipSync(zeros(200_000_000)) },
    413,
    decompressed,
  ],
  [
    'snappy that declares too much',
    { type: PROTOBUF_TYPE, body: declared(MAX_DECOMPRESSED_BYTES + 1) },
    413,
    decompressed,
  ],
  [
    'snappy that declares 4 GB',
    { type: PROTOBUF_TYPE, body: declared(2 ** 32 - 1) },
    413,
    `${READS}decompressed message size too large than max`,
  ],
  [
    'labels of 17 MB',
    { encoding: 'gzip', body: gzipSync(labeled(`{"a":"${'x'.repeat(17_000_000)}"}`)) },
    413,
    `${READS}stream labels size 17 MB exceeds limit of 17 MB`,
  ],
];

const JSON_ROWS: readonly Row[] = [
  ['no JSON', { body: 'hello' }, 400, OBJECT],
  ['an array', { body: '[]' }, 400, OBJECT],
  ['cut off', { body: jsonPush(good).slice(0, -4) }, 400, ''],
  ['streams not an array', { body: '{"streams":{}}' }, 400, ARRAY],
  ['values not an array', { body: '{"streams":[{"stream":{"a":"b"},"values":{}}]}' }, 400, ARRAY],
  ['a timestamp that is a number', { body: values(`[${NOW},"x"]`) }, 400, STRING],
  ['a timestamp that is null', { body: values('[null,"x"]') }, 400, STRING],
  [
    'a timestamp with a fraction',
    { body: at('1.5') },
    400,
    "Value looks like Number/Boolean/None, but can't find its end: ',' or '}' symbol",
  ],
  [
    'a timestamp that is a date',
    { body: at('2026-01-01T00:00:00Z') },
    400,
    'Value looks like Number/Boolean/None',
  ],
  ['a timestamp over int64', { body: at(2n ** 63n) }, 400, 'Value is number, but overflowed while parsing'],
  [
    'a timestamp far over int64',
    { body: at('9'.repeat(400)) },
    400,
    'Value is number, but overflowed while parsing',
  ],
  ['a line that is a number', { body: value('2') }, 400, STRING],
  ['a line that is null', { body: value('null') }, 400, STRING],
  ['a bad escape', { body: value('"\\x41"') }, 400, 'Encountered an invalid escape sequence in a string'],
  ['metadata that is an array', { body: value('"x",[]') }, 400, OBJECT],
  ['metadata that is null', { body: value('"x",null') }, 400, OBJECT],
  ['a metadata value that is a number', { body: value('"x",{"a":1}') }, 400, STRING],
  ['a metadata value that is null', { body: value('"x",{"a":null}') }, 400, STRING],
  ['nested metadata', { body: value('"x",{"a":{"b":"c"}}') }, 400, STRING],
  ['nesting without end', { body: `{"x":${'['.repeat(500_000)}` }, 400, ''],
];

const LABEL_ROWS: readonly Row[] = [
  [
    'no streams',
    { body: '{"streams":[]}' },
    422,
    'error at least one valid stream is required for ingestion',
  ],
  ['null', { body: 'null' }, 422, 'error at least one valid stream is required for ingestion'],
  [
    'no streams in protobuf',
    { type: PROTOBUF_TYPE, body: snappyPush([]) },
    422,
    'error at least one valid stream is required for ingestion',
  ],
  [
    'an illegal name in JSON',
    { body: labeled('{"a-b":"c"}') },
    400,
    "couldn't parse labels: 1:3: parse error: ",
  ],
  ['an empty name in JSON', { body: labeled('{"":"c"}') }, 400, "couldn't parse labels: "],
  [
    'an unterminated text',
    text('{a="'),
    400,
    "couldn't parse labels: 1:4: parse error: unterminated quoted string",
  ],
  ['an unterminated set', text('{a="b"'), 400, "couldn't parse labels: "],
  ['no value', text('{a=}'), 400, "couldn't parse labels: "],
  ['a regex matcher', text('{a=~"b"}'), 400, "couldn't parse labels: "],
  ['a reserved label', { body: labeled('{"app":"x","__backfill__":"true"}') }, 400, ''],
  ['another reserved label', { body: labeled('{"app":"x","__backfill_shard__":"1"}') }, 400, ''],
  ['a name given twice', text('{app="a", app="b"}'), 400, "has duplicate label name: 'app'"],
  ['16 names', { body: labeled(JSON.stringify(many(16))) }, 400, 'has 16 label names; limit 15'],
  [
    'a name of 1025 bytes',
    { body: labeled(`{"${'n'.repeat(1025)}":"v"}`) },
    400,
    `has label name too long: '${'n'.repeat(1025)}'`,
  ],
  [
    'a value of 2049 bytes',
    { body: labeled(`{"n":"${'v'.repeat(2049)}"}`) },
    400,
    `has label value too long: '${'v'.repeat(2049)}'`,
  ],
  [
    'a value of 1025 characters in 2050 bytes',
    { body: labeled(`{"n":"${'é'.repeat(1025)}"}`) },
    400,
    `has label value too long: '${'é'.repeat(1025)}'`,
  ],
  ['100,000 names', { encoding: 'gzip', body: gzipSync(labeled(JSON.stringify(many(100_000)))) }, 400, ''],
];

const ENTRY_ROWS: readonly Row[] = [
  ['the year 1970', { body: at(0n) }, 400, `${tooOld}1970-01-01T00:00:00Z, oldest acceptable timestamp is: `],
  ['before 1970', { body: at(-1n) }, 400, `${tooOld}1969-12-31T23:59:59Z`],
  ['the least int64', { body: at(-(2n ** 63n)) }, 400, `${tooOld}1677-09-21T00:12:43Z`],
  [
    'eight days ago',
    { body: at(NOW - 8n * 1440n * NS_PER_MINUTE) },
    400,
    `${tooOld}${rfc3339(NOW - 8n * 1440n * NS_PER_MINUTE)}`,
  ],
  ['in an hour', { body: at(NOW + 60n * NS_PER_MINUTE) }, 400, tooNew + rfc3339(NOW + 60n * NS_PER_MINUTE)],
  ['the greatest int64', { body: at(2n ** 63n - 1n) }, 400, `${tooNew}2262-04-11T23:47:16Z`],
  ['milliseconds for nanoseconds', { body: at(NOW / 1_000_000n) }, 400, `${tooOld}1970-01-01T`],
  [
    'protobuf of the year 9999',
    {
      type: PROTOBUF_TYPE,
      body: snappyPush([{ labels: LABELS, entries: [{ ns: 253_402_300_799n * NS_PER_SECOND, line: 'x' }] }]),
    },
    400,
    `${tooNew}9999-12-31T23:59:59Z`,
  ],
  [
    'protobuf of the year 1',
    {
      type: PROTOBUF_TYPE,
      body: snappyPush([{ labels: LABELS, entries: [{ ns: -62_135_596_800n * NS_PER_SECOND, line: 'x' }] }]),
    },
    400,
    `${tooOld}0001-01-01T00:00:00Z`,
  ],
  [
    'a line of 262145 bytes',
    { body: value(`"${'x'.repeat(262_145)}"`) },
    400,
    `max entry size '262144' bytes exceeded for stream '${STREAM}' while adding an entry with length '262145' bytes`,
  ],
  [
    'a line over the limit in bytes alone',
    { body: value(`"${'é'.repeat(131_073)}"`) },
    400,
    "while adding an entry with length '262146' bytes",
  ],
  [
    '129 pairs of metadata',
    { body: metadata(many(129)) },
    400,
    `stream '${STREAM}' has too many structured metadata labels: '129', limit: '128'. Please see \`limits_config.max_structured_metadata_entries_count\` or contact your Loki administrator to increase it`,
  ],
  [
    'metadata over 64 KB',
    { body: metadata({ a: 'v'.repeat(65_536) }) },
    400,
    `stream '${STREAM}' has structured metadata too large: '65537' bytes, limit: '65536' bytes. Please see \`limits_config.max_structured_metadata_size\` or contact your Loki administrator to increase it`,
  ],
  ['a metadata name that is empty', { body: metadata({ '': 'v' }) }, 400, 'label name is empty'],
  [
    'a metadata name of underscores',
    { body: metadata({ ___: 'v' }) },
    400,
    'normalization for label name "___" resulted in invalid name "_"',
  ],
  [
    'a metadata name of no letters',
    { body: metadata({ '.-.': 'v' }) },
    400,
    'normalization for label name ".-." resulted in invalid name "_"',
  ],
];

const TENANT_ROWS: readonly Row[] = [
  ['no tenant', { tenant: null, body: jsonPush(good) }, 401, 'no org id'],
  ['an empty tenant', { tenant: '', body: jsonPush(good) }, 401, 'no org id'],
  ['no tenant, before a broken body is read', { tenant: null, body: '{' }, 401, 'no org id'],
  [
    'a space',
    { tenant: 'a b', body: jsonPush(good) },
    400,
    "tenant ID 'a b' contains unsupported character ' '",
  ],
  [
    'a slash',
    { tenant: '../x', body: jsonPush(good) },
    400,
    "tenant ID '../x' contains unsupported character '/'",
  ],
  [
    'a colon',
    { tenant: 'a:b', body: jsonPush(good) },
    400,
    "tenant ID 'a:b' contains unsupported character ':'",
  ],
  [
    '151 characters',
    { tenant: 'x'.repeat(151), body: jsonPush(good) },
    400,
    'tenant ID is too long: max 150 characters',
  ],
  [
    'a bad character in a long id',
    { tenant: `${'x'.repeat(151)}#`, body: jsonPush(good) },
    400,
    "contains unsupported character '#'",
  ],
  ['a dot', { tenant: '.', body: jsonPush(good) }, 400, "tenant ID is '.' or '..'"],
  ['two dots', { tenant: '..', body: jsonPush(good) }, 400, "tenant ID is '.' or '..'"],
  ['two tenants', { tenant: 'a|b', body: jsonPush(good) }, 400, 'multiple org IDs present'],
  ['nothing but a bar', { tenant: '|', body: jsonPush(good) }, 400, ''],
];

export const REFUSED: readonly (readonly [where: string, rows: readonly Row[]])[] = [
  ['content type and encoding (docs/dev/wire-format.md#content-type-and-encoding)', CONTENT],
  ['sizes (docs/dev/wire-format.md#sizes)', SIZES],
  ['JSON (docs/dev/wire-format.md#json)', JSON_ROWS],
  ['labels (docs/dev/wire-format.md#responses-to-a-push, #order-of-checks, #validation)', LABEL_ROWS],
  ['entries (docs/dev/wire-format.md#validation, #names-of-structured-metadata)', ENTRY_ROWS],
  ['tenants (docs/dev/wire-format.md#tenant-ids)', TENANT_ROWS],
];

/** Unusual but valid input. */
export const ACCEPTED: readonly (readonly [what: string, sent: Sent])[] = [
  ['JSON with a charset', { type: 'application/json; charset=utf-8', body: jsonPush(good) }],
  ['protobuf by any other name', { type: 'application/vnd.google.protobuf', body: snappyPush(good) }],
  ['protobuf as text', { type: 'text/plain', body: snappyPush(good) }],
  ['protobuf said to be snappy', { type: PROTOBUF_TYPE, encoding: 'snappy', body: snappyPush(good) }],
  ['streams without entries', { body: values('') }],
  ['values null', { body: '{"streams":[{"stream":{"app":"bad"},"values":null}]}' }],
  ['null among the values', { body: values(`null,["${NOW}","x"]`) }],
  ['more elements than three', { body: value('"x",{},[1,{}],null') }],
  [
    'unknown keys',
    { body: `{"x":[{}],"streams":[{"stream":{"app":"bad"},"y":1,"values":[["${NOW}","x"]]}]}` },
  ],
  ['labels that are no strings', { body: labeled('{"app":1,"b":true,"c":null,"d":{"e":[]}}') }],
  ['equal keys', { body: labeled('{"app":"x","app":"y"}') }],
  ['an empty label value', { body: labeled('{"app":"x","b":""}') }],
  ['no labels', { body: labeled('{}') }],
  ['15 names', { body: labeled(JSON.stringify(many(15))) }],
  [
    'a name of 1024 bytes and a value of 2048',
    { body: labeled(`{"${'n'.repeat(1024)}":"${'v'.repeat(2048)}"}`) },
  ],
  ['a line of 262144 bytes', { body: value(`"${'x'.repeat(262_144)}"`) }],
  ['an empty line', { body: value('""') }],
  ['128 pairs of metadata of 64 KB', { body: metadata(many(128, 500)) }],
  ['invalid UTF-8', { body: invalidUtf8(value('"a?b",{"m":"?"}')) }],
  ['zero bytes and lone surrogates', { body: value('"\\u0000\\ud800"') }],
  ['metadata names of other characters', { body: metadata({ 'a.b-c': '1', '9': '2', __x__: '3' }) }],
  ['almost seven days ago', { body: at(NOW - 7n * 1440n * NS_PER_MINUTE + 60n * NS_PER_MINUTE) }],
  ['in nine minutes', { body: at(NOW + 9n * NS_PER_MINUTE) }],
  ['one tenant twice', { tenant: 'a|a', body: jsonPush(good) }],
  ['a tenant of every kind of character', { tenant: "aZ09!-_.*'()", body: jsonPush(good) }],
  ['a tenant of 150 characters', { tenant: 'x'.repeat(150), body: jsonPush(good) }],
];
