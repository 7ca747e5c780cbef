import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { DEFAULT_FIELDS, fieldOptions } from '../../../shared/write/ingest/receivers/field-options.ts';
import { jsonLinesReceiver } from '../../../shared/write/ingest/receivers/json-lines-receiver.ts';
import type { PlainEntry } from '../entries.ts';
import { columnsOf, decoded, holds, NOW_NS, refusalOf } from './support.ts';

function receiverOf(params: Record<string, string> = {}) {
  return jsonLinesReceiver(fieldOptions(name => params[name] ?? '', DEFAULT_FIELDS));
}

/** An entry with its time in nanoseconds after NOW_NS, which a failed comparison can show. */
type Told = Omit<PlainEntry, 'ns'> & { after: number };

const plain = (line: string, rest: Partial<Told> = {}): Told => ({
  stream: '{}',
  after: 0,
  line,
  metadata: [],
  ...rest,
});

const told = ({ ns, ...rest }: PlainEntry): Told => ({ ...rest, after: Number(ns - NOW_NS) });

describe('a document becomes', () => {
  // [case, document, want, parameters]
  const rows: [string, string, Told, Record<string, string>?][] = [
    ['a message', '{"message":"m"}', plain('m')],
    ['_msg before message', '{"message":"m","_msg":"x"}', plain('x', { metadata: [['message', 'm']] })],
    ['itself without a message', ' {"a": 1} \r', plain(' {"a": 1}')],
    [
      'itself with a message that is no text',
      '{"message":{"a":1},"b":"c"}',
      plain('{"message":{"a":1},"b":"c"}'),
    ],
    ['an unescaped message', '{"msg":"a\\n\\"b\\"\\u00e9"}', plain('a\n"b"é')],
    ['an escaped line as it is', '{"x":"a\\nb"}', plain('{"x":"a\\nb"}')],
    [
      'metadata of all kinds',
      '{"msg":"m","n":-1.50,"t":true,"z":null,"e":"","o":{},"a":[1,"]"],"s":"\\u0041"}',
      plain('m', {
        metadata: [
          ['n', '-1.50'],
          ['t', 'true'],
          ['o', '{}'],
          ['a', '[1,"]"]'],
          ['s', 'A'],
        ].filter(([name]) => name !== 'o') as [string, string][],
      }),
    ],
    [
      'nested fields',
      '{"msg":"m","http":{"status":500,"req":{"id":"x"}},"a.b":"c"}',
      plain('m', {
        metadata: [
          ['http_status', '500'],
          ['http_req_id', 'x'],
          ['a_b', 'c'],
        ],
      }),
    ],
    [
      'big numbers to the last digit',
      '{"msg":"m","id":12345678901234567890}',
      plain('m', { metadata: [['id', '12345678901234567890']] }),
    ],
    [
      'labels of the usual fields',
      '{"msg":"m","service":{"name":"shop"},"kubernetes":{"pod_name":"p"},"level":"info"}',
      plain('m', { stream: '{k8s_pod_name="p", level="info", service_name="shop"}' }),
    ],
    [
      'labels that are asked for',
      '{"msg":"m","a":{"b":"1\\n"},"n":2,"level":"info"}',
      plain('m', { stream: '{a_b="1\\n", n="2"}', metadata: [['level', 'info']] }),
      { _stream_fields: 'a.b, n' },
    ],
    ['its time', '{"_time":"2026-11-21T12:00:00.5Z","msg":"m"}', plain('m', { after: 5e8 })],
    ['its time in ms', '{"ts":1795262400500,"msg":"m"}', plain('m', { after: 5e8 })],
    [
      'the first of its times that is one',
      '{"time":"12ms","ts":"1795262401","msg":"m"}',
      plain('m', { after: 1e9, metadata: [['time', '12ms']] }),
    ],
    ['now for 0', '{"_time":"0","msg":"m"}', plain('m', { metadata: [['_time', '0']] })],
    [
      'another time and message',
      '{"at":1795262400,"text":"x","message":"m"}',
      plain('x', { metadata: [['message', 'm']] }),
      { _time_field: 'at', _msg_field: 'nothing,text' },
    ],
    [
      'without what is ignored',
      '{"msg":"m","a":"1","b":{"c":"2","d":"3"},"e":"4"}',
      plain('m', { metadata: [['e', '4']] }),
      { ignore_fields: 'a,b.*' },
    ],
    [
      'with what is added',
      '{"msg":"m"}',
      plain('m', { stream: '{env="prod"}', metadata: [['team', 'a=b']] }),
      { extra_fields: 'env=prod,team=a=b', _stream_fields: 'env' },
    ],
    [
      'deep objects as JSON',
      '{"msg":"m","a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":1}}}}}}}}}',
      plain('m', { metadata: [['a_b_c_d_e_f_g_h', '{"i":1}']] }),
    ],
    ['itself where a name is no name', '{"msg":"m","..":1}', plain('{"msg":"m","..":1}')],
    [
      'an escaped key',
      '{"m\\u0073g":"m","\\n":1,"k\\u0041":"v"}',
      plain('{"m\\u0073g":"m","\\n":1,"k\\u0041":"v"}'),
    ],
    [
      'an escaped key that is a name',
      '{"m\\u0073g":"m","k\\u0041":"v"}',
      plain('m', { metadata: [['kA', 'v']] }),
    ],
    [
      'a lone surrogate',
      '{"msg":"\\ud800","x":"\\udc00y"}',
      plain('\ufffd', { metadata: [['x', '\ufffdy']] }),
    ],
  ];
  test.each(rows)('%s', async (...[, document, want, params]) => {
    expect((await decoded(receiverOf(params), document)).map(told)).toEqual([want]);
  });

  test('a document is stored as its own line if its fields exceed the limits of metadata', async () => {
    const fields = (count: number, size = 1) =>
      JSON.stringify({
        msg: 'm',
        ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 'v'.repeat(size)])),
      });
    // Compares lengths, because comparing long lines would take minutes on a failure.
    const kept = async (document: string, limits = DEFAULT_LIMITS) => {
      const [{ line, metadata }] = await decoded(receiverOf(), document, {}, limits);
      return [line === document ? 'document' : line.slice(0, 10), metadata.length];
    };
    expect(await kept(fields(128))).toEqual(['m', 128]);
    expect(await kept(fields(129))).toEqual(['document', 0]);
    expect(await kept(fields(2000))).toEqual(['document', 0]);
    expect(await kept(fields(2, 32_766))).toEqual(['m', 2]);
    expect(await kept(fields(2, 32_767))).toEqual(['document', 0]);
    const none = { ...DEFAULT_LIMITS, allowStructuredMetadata: false };
    expect(await kept(fields(1), none)).toEqual(['document', 0]);
    expect(await kept(fields(0), none)).toEqual(['m', 0]);
  });

  test('metadata instead of a label if the value is too long for a label', async () => {
    const level = 'x'.repeat(2049);
    expect((await decoded(receiverOf(), JSON.stringify({ msg: 'm', level }))).map(told)).toEqual([
      plain('m', { metadata: [['level', level]] }),
    ]);
  });
});

test('lines without a time keep their order and duplicates', async () => {
  const entries = await decoded(receiverOf(), '{"msg":"a"}\n\n  \n{"msg":"a"}\r\n{"msg":"b"}');
  expect(entries.map(told).map(({ after, line }) => [after, line])).toEqual([
    [0, 'a'],
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('streams with the same labels are one, in any order of fields', async () => {
  const body =
    '{"level":"a","host":{"name":"h"}}\n{"host.name":"h","level":"a"}\n{"level":"h","host.name":"a"}';
  const columns = await columnsOf(receiverOf(), body);
  expect(columns.streams.map(({ text }) => text)).toEqual([
    '{host_name="h", level="a"}',
    '{host_name="a", level="h"}',
  ]);
});

test('invalid UTF-8 is replaced anywhere', async () => {
  const body = Buffer.from('{"msg":"a?b","k":"?"}\n{"x":"?"}').map(byte => (byte === 0x3f ? 0xff : byte));
  expect((await decoded(receiverOf(), body)).map(({ line }) => line)).toEqual(['a\ufffdb', '{"x":"\ufffd"}']);
});

test('gzip bodies are decompressed', async () => {
  const entries = await decoded(receiverOf(), gzipSync('{"msg":"m"}'), { contentEncoding: 'gzip' });
  expect(entries.map(told)).toEqual([plain('m')]);
  expect(await refusalOf(receiverOf(), 'x', { contentEncoding: 'br' })).toBe(
    '400 Content-Encoding "br" not supported',
  );
});

describe('lines that are not documents are reported, and the others are kept', () => {
  // [case, line]
  const rows: [string, string][] = [
    ['text', 'hello'],
    ['an array', '[]'],
    ['cut off', '{"a":1'],
    ['something behind', '{"a":1}x'],
    ['two documents', '{"a":1}{"a":1}'],
    ['no key', '{1:2}'],
    ['no colon', '{"a" 1}'],
    ['no comma', '{"a":1 "b":2}'],
    ['a comma too many', '{"a":1,}'],
    ['no value', '{"a":}'],
    ['a word', '{"a":nul}'],
    ['a number of no kind', '{"a":01}'],
    ['a number too long', `{"a":1.${'1'.repeat(5000)}}`],
    ['an open string', '{"a":"b'],
    ['a bad escape', '{"a":"\\x"}'],
    ['a bad unicode escape', '{"a":"\\u12g4"}'],
    ['a cut escape', '{"a":"\\u12'],
    ['an open array', '{"a":[1'],
    ['too deep', `{"a":${'['.repeat(1001)}${']'.repeat(1001)}}`],
  ];
  test.each(rows)('%s', async (_, line) => {
    const receiver = receiverOf();
    expect(await decoded(receiver, `{"msg":"a"}\n${line}\n{"msg":"b"}`)).toHaveLength(2);
    expect(receiver.failure()).toBe('line 2 is not a JSON object');
  });

  test('counts lines by problem', async () => {
    const receiver = receiverOf();
    expect(await decoded(receiver, 'x\ny\n{"_time":"soon"}\n{"msg":"a"}')).toHaveLength(1);
    expect(receiver.failure()).toBe(
      'line 1 is not a JSON object (2 lines in all); line 3 has an invalid time',
    );
  });

  test('reports nothing if there is no problem', async () => {
    const receiver = receiverOf();
    expect(await decoded(receiver, '\n \n')).toEqual([]);
    expect(receiver.failure()).toBeUndefined();
  });
});

test('invalid parameters are refused', () => {
  expect(() => receiverOf({ extra_fields: 'a' })).toThrow('extra_fields must be name=value');
  expect(() => receiverOf({ _stream_fields: '..' })).toThrow('normalization for label name');
  expect(() => receiverOf({ ignore_fields: 'a,'.repeat(300) })).toThrow(
    'ignore_fields names more than 256 fields',
  );
});

test('long names inside long names cost no more than the body', async () => {
  const long = 'n'.repeat(1000);
  const inner = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${long}${i}`, 1]));
  const document = JSON.stringify({ msg: 'm', [long]: inner, [long.repeat(2)]: { a: 1 } });
  const [{ line, metadata }] = await decoded(receiverOf(), document);
  expect([line === document, metadata]).toEqual([true, []]);
});

describe('any document', () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  const documents = fc.dictionary(fc.string({ unit: 'binary-ascii', minLength: 1 }), value, { maxKeys: 8 });

  test('any document without a message is its own line', async () => {
    await fc.assert(
      fc.asyncProperty(documents, async document => {
        const text = JSON.stringify({
          ...document,
          message: 1,
          msg: 1,
          _msg: 1,
          log: 1,
          _time: 1,
          '@timestamp': 1,
        });
        expect((await decoded(receiverOf(), text)).map(({ line }) => line)).toEqual([text]);
      }),
    );
  });

  test('any document with a message gives its scalar fields, like JSON.parse', async () => {
    const names = fc.string({ unit: fc.constantFrom(...'abcXYZ'), minLength: 1, maxLength: 6 });
    const scalar = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(), fc.constant(null));
    const tree = fc.dictionary(names, fc.oneof(scalar, fc.dictionary(names, scalar, { maxKeys: 3 })), {
      maxKeys: 6,
    });
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.boolean(),
        async (fields, message, pretty) => {
          const want: [string, string][] = [];
          const walk = (object: object, prefix: string) => {
            for (const [name, found] of Object.entries(object)) {
              if (found !== null && typeof found === 'object') walk(found, `${prefix}${name}_`);
              else if (found !== null && found !== '') want.push([prefix + name, String(found)]);
            }
          };
          // A tab stands for whitespace of encoders; a line feed would end the document.
          const text = JSON.stringify({ ...fields, MSG_: message }, null, pretty ? '\t' : '').replaceAll(
            '\n',
            ' ',
          );
          walk(JSON.parse(text), '');
          const [entry] = await decoded(receiverOf({ _msg_field: 'MSG_' }), text);
          expect(entry.line).toBe(message);
          expect(entry.metadata).toEqual(want.filter(([name]) => name !== 'MSG_'));
        },
      ),
    );
  });
});

test('any bytes are decoded or refused', async () => {
  const good =
    '{"@timestamp":"2026-11-21T12:00:00Z","message":"a\\n\\u00e9","o":{"n":[1,{"x":"]"}]},"level":"info"}\n';
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0a1\n '), maxLength: 60 }).map(text => Buffer.from(text)),
    fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, byte]) => {
      const bytes = Buffer.from(good.repeat(2));
      bytes[at] = byte;
      return bytes;
    }),
    fc.nat(good.length * 2).map(length => Buffer.from(good.repeat(2)).subarray(0, length)),
  );
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom('', 'a.b,level'), async (bytes, streams) => {
      await holds(receiverOf({ _stream_fields: streams }), bytes);
    }),
    { numRuns: 3000 },
  );
});
