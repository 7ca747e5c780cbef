import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { decodeLegacyJsonPush } from '../../shared/write/ingest/legacy-json-push.ts';
import { entriesOf, holds, type PlainEntry, refusal } from './entries.ts';

const decode = (text: string | Uint8Array): PlainEntry[] =>
  entriesOf(atOnce(decodeJsonPush(Buffer.from(text))));
const stream = (labels: string, values = '["1","x"]') =>
  `{"streams":[{"stream":${labels},"values":[${values}]}]}`;
const values = (text: string) => stream('{"a":"b"}', text);

const STRING = `Value is string, but can't find closing '"' symbol`;
const OBJECT = `Value looks like object, but can't find closing '}' symbol`;
const ARRAY = `Value is array, but can't find closing ']' symbol`;
const VALUE = `Value looks like Number/Boolean/None, but can't find its end: ',' or '}' symbol`;
const ESCAPE = 'Encountered an invalid escape sequence in a string';

describe('decodeJsonPush', () => {
  // [case, body, lines]
  const accepted: [string, string, string[]][] = [
    ['no streams', '{"streams":[]}', []],
    ['null streams', '{"streams":null}', []],
    ['no keys', '{}', []],
    ['nothing', ' null ', []],
    ['nothing, and bytes behind it', 'null {"streams":', []],
    ['a value without a line', values('["1"]'), ['']],
    ['values without lines among others', values('["1"],["2","x"],[ "3" ]'), ['', 'x', '']],
    ['unknown keys', '{"x":{"y":[1,{"z":null}]},"streams":[],"w":-1.5e+3}', []],
    ['bytes behind the value', `${values('["1","x"]')} trailing`, ['x']],
    ['null values', '{"streams":[{"stream":{"a":"b"},"values":null}]}', []],
    ['no values', '{"streams":[{"stream":{"a":"b"}}]}', []],
    ['null among the values', values('null,["1","x"],null,["2","y"],null'), ['x', 'y']],
    ['values before stream', '{"streams":[{"values":[["1","x"]],"stream":{"a":"b"}}]}', ['x']],
    ['white space', ' {\n"streams" :\t[ { "stream" : { } , "values" : [ [ "1" , "x" ] ] } ] } ', ['x']],
    ['elements behind the third', values('["1","x",{},[{}],7,null]'), ['x']],
    ['an escaped key', '{"\\u0073treams":[{"stream":{},"values":[["1","x"]]}]}', ['x']],
    ['simple escapes', values('["1","\\"\\\\\\/\\b\\f\\n\\r\\t"]'), ['"\\/\b\f\n\r\t']],
    ['unicode escapes', values('["1","\\u0041\\u00e9\\u65e5\\ud83d\\ude80\\u0000"]'), ['Aé日🚀\0']],
    ['lone surrogates', values('["1","\\ud83d!\\ude80\\ud83d\\u0041"]'), ['�!��A']],
    ['raw control characters', values('["1","a\tb\nc"]'), ['a\tb\nc']],
    ['empty line', values('["1",""]'), ['']],
  ];
  test.each(accepted)('%s', (_, body, want) => {
    expect(decode(body).map(entry => entry.line)).toEqual(want);
  });

  // [case, labels object, canonical text]
  const labels: [string, string, string][] = [
    ['sorted', '{"b":"2","a":"1"}', '{a="1", b="2"}'],
    ['number', '{"a":1}', '{a="1"}'],
    ['boolean', '{"a":true}', '{a="true"}'],
    ['null', '{"a":null}', '{a="null"}'],
    ['object', '{"a":{"b": [1, "}"]}}', '{a="{\\"b\\": [1, \\"}\\"]}"}'],
    ['last of equal keys', '{"a":"1","a":"2"}', '{a="2"}'],
    ['empty value', '{"a":"","b":"1"}', '{b="1"}'],
    ['none', '{}', '{}'],
    ['escapes', '{"\\u0061":"x\\ny"}', '{a="x\\ny"}'],
    ['two objects', '{"a":"1","b":"2"},"stream":{"b":"3","c":"4"}', '{a="1", b="3", c="4"}'],
  ];
  test.each(labels)('canonicalizes labels: %s', (_, object, want) => {
    const body = Buffer.from(stream(object));
    // Twice: the second time the labels come from the cache.
    expect(decode(body)[0].stream).toBe(want);
    expect(decode(body)[0].stream).toBe(want);
  });

  test('uses empty labels without a stream object', () => {
    expect(decode('{"streams":[{"values":[["1","x"]]}]}')[0].stream).toBe('{}');
  });

  test('merges streams with the same labels', () => {
    const one = '{"stream":{"a":"1","b":"2"},"values":[["1","x"]]}';
    const other = '{"stream":{"b":"2","a":"1"},"values":[["2","y"]]}';
    const columns = atOnce(decodeJsonPush(Buffer.from(`{"streams":[${one},${other}]}`)));
    expect(columns.streams.map(({ text }) => text)).toEqual(['{a="1", b="2"}']);
    expect(entriesOf(columns).map(({ line }) => line)).toEqual(['x', 'y']);
  });

  test('keeps metadata in written order', () => {
    expect(
      decode(values('["1","x",{"b":"2","a":"\\u0031","b":"3"}],["2","y",{}],["3","z",{"c":""}]')),
    ).toEqual([
      {
        stream: '{a="b"}',
        ns: 1n,
        line: 'x',
        metadata: [
          ['b', '2'],
          ['a', '1'],
          ['b', '3'],
        ],
      },
      { stream: '{a="b"}', ns: 2n, line: 'y', metadata: [] },
      { stream: '{a="b"}', ns: 3n, line: 'z', metadata: [['c', '']] },
    ]);
  });

  // [case, body, message]
  const refused: [string, string, string][] = [
    ['empty body', '', 'EOF'],
    ['blank body', ' \n', 'EOF'],
    ['top level array', '[]', OBJECT],
    ['top level string', '"x"', OBJECT],
    ['cut off', '{"streams":[', OBJECT],
    ['streams not an array', '{"streams":{}}', ARRAY],
    ['stream not an object', '{"streams":[7]}', OBJECT],
    ['null among the streams', '{"streams":[null]}', OBJECT],
    ['labels not an object', stream('"{}"'), OBJECT],
    ['labels null', stream('null'), OBJECT],
    ['values not an array', '{"streams":[{"stream":{},"values":{}}]}', ARRAY],
    ['value not an array', values('{}'), ARRAY],
    ['value without elements', values('[]'), STRING],
    ['value without a line, its timestamp a number', values('[1]'), STRING],
    ['a word that begins as null', 'nul', VALUE],
    ['a word that begins with null', 'nullx', VALUE],
    ['timestamp a number', values('[1,"x"]'), STRING],
    ['timestamp null', values('[null,"x"]'), STRING],
    ['line a number', values('["1",2]'), STRING],
    ['line null', values('["1",null]'), STRING],
    ['line not closed', '{"streams":[{"stream":{},"values":[["1","x', STRING],
    ['timestamp not an integer', values('["1.5","x"]'), VALUE],
    ['timestamp empty', values('["","x"]'), VALUE],
    ['timestamp a date', values('["2024-01-01T00:00:00Z","x"]'), VALUE],
    [
      'timestamp out of range',
      values('["9223372036854775808","x"]'),
      'Value is number, but overflowed while parsing',
    ],
    ['metadata an array', values('["1","x",[]]'), OBJECT],
    ['metadata null', values('["1","x",null]'), OBJECT],
    ['metadata value a number', values('["1","x",{"a":1}]'), STRING],
    ['metadata value null', values('["1","x",{"a":null}]'), STRING],
    ['metadata value an object', values('["1","x",{"a":{}}]'), STRING],
    ['bad escape', values('["1","\\x"]'), ESCAPE],
    ['bad unicode escape', values('["1","\\u00g0"]'), ESCAPE],
    ['cut off unicode escape', values('["1","\\u00"]'), ESCAPE],
    ['no comma between values', values('["1","x"]["2","y"]'), ARRAY],
    ['comma behind the last value', values('["1","x"],'), ARRAY],
    ['no colon', '{"streams" []}', OBJECT],
    ['no comma between keys', '{"a":1 "streams":[]}', OBJECT],
    ['comma before the first key', '{,"streams":[]}', OBJECT],
    ['comma behind the last key', '{"streams":[],}', OBJECT],
    ['no word of JSON', '{"a":nul}', VALUE],
    ['no number of JSON', '{"a":01x}', VALUE],
    ['skipped object not closed', '{"a":{"b":1]}', OBJECT],
    ['skipped array not closed', '{"a":[1}}', ARRAY],
    ['skipped key no string', '{"a":{1:2}}', OBJECT],
    ['skipped too deep', `{"a":${'['.repeat(1001)}`, 'exceeded max depth'],
    [
      'illegal label name',
      stream('{"a-b":"c"}'),
      "couldn't parse labels: 1:3: parse error: unexpected character inside braces: '-'",
    ],
    [
      'empty label name',
      stream('{"":"c"}'),
      'couldn\'t parse labels: 1:2: parse error: unexpected "=" in label set, expected identifier or "}"',
    ],
  ];
  test.each(refused)('refuses %s', (_, body, message) => {
    expect(refusal(() => decode(body))).toEqual([400, message]);
  });

  test('skips a value that is deep or has brackets in strings', () => {
    const deep = `${'{"a":['.repeat(499)}"]}\\"{"${']}'.repeat(499)}`;
    expect(decode(`{"x":${deep},"streams":[{"stream":{},"values":[["1","x"]]}]}`)).toHaveLength(1);
  });

  test('replaces invalid UTF-8 with U+FFFD anywhere', () => {
    const bytes = (text: string) => Buffer.from(text.replaceAll('?', '\xff'), 'latin1');
    const body = bytes(
      values('["1","a?\\n?b\\u00e9",{"n?":"v?"}],["2","\\t?\xc3\xa9 \xe6\x97"],["3","plain"]'),
    );
    expect(decode(body)).toEqual([
      { stream: '{a="b"}', ns: 1n, line: 'a�\n�bé', metadata: [['n�', 'v�']] },
      { stream: '{a="b"}', ns: 2n, line: '\t�é ��', metadata: [] },
      { stream: '{a="b"}', ns: 3n, line: 'plain', metadata: [] },
    ]);
    expect(decode(bytes(stream('{"a":"x?"}')))[0].stream).toBe('{a="x�"}');
  });

  const text = fc.string({ maxLength: 30, unit: 'binary' });
  const entry = fc.tuple(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    text,
    fc.dictionary(text, text, { maxKeys: 4 }),
  );
  const push = fc.array(
    fc.record({
      stream: fc.dictionary(fc.stringMatching(/^[a-c_]{1,3}$/), text, { maxKeys: 4 }),
      values: fc.array(entry, { maxLength: 8 }),
    }),
    { maxLength: 5 },
  );

  test('decodes the output of JSON.stringify', () => {
    fc.assert(
      fc.property(push, fc.constantFrom(undefined, 1, '\t'), (streams, indent) => {
        const want = streams.flatMap(({ stream: labels, values: entries }) =>
          entries.map(([ns, line, metadata]) => ({
            stream: formatLabels(labelsOf(labels).filter(({ value }) => value !== '')),
            ns: BigInt(ns),
            line,
            metadata: Object.entries(metadata),
          })),
        );
        expect(decode(JSON.stringify({ streams }, null, indent))).toEqual(want);
      }),
    );
  });

  test('fails on a changed push only with a client error', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(push, fc.array(change, { minLength: 1, maxLength: 3 }), (streams, changes) => {
        const body = Buffer.from(JSON.stringify({ streams }));
        for (const [at, byte] of changes) body[at % body.length] = byte;
        return holds(() => decode(body)) && holds(() => atOnce(decodeLegacyJsonPush(body)));
      }),
      { numRuns: 1000 },
    );
  });

  test('bounds the labels text', () => {
    const [status, message] = refusal(() => decode(stream(`{"a":"${'x'.repeat(17_000_000)}"}`)));
    expect([status, message]).toEqual([
      413,
      'request body too large: stream labels size 17 MB exceeds limit of 17 MB',
    ]);
  });
});

describe('decodeLegacyJsonPush', () => {
  const legacy = (entries: string, labels = '{a=\\"b\\"}') =>
    entriesOf(
      atOnce(
        decodeLegacyJsonPush(Buffer.from(`{"streams":[{"labels":"${labels}","entries":[${entries}]}]}`)),
      ),
    );

  test('decodes entries', () => {
    expect(
      legacy(
        '{"ts":"1970-01-01T00:00:01.5Z","line":"x\\ny","more":[]},{"line":"z","ts":"1970-01-01T02:00:00+02:00"}',
      ),
    ).toEqual([
      { stream: '{a="b"}', ns: 1_500_000_000n, line: 'x\ny', metadata: [] },
      { stream: '{a="b"}', ns: 0n, line: 'z', metadata: [] },
    ]);
  });

  // [case, entries, labels, message]
  const refused: [string, string, string, string][] = [
    [
      'bad time',
      '{"ts":"1","line":"x"}',
      '{}',
      'parsing time "1" as "2006-01-02T15:04:05Z07:00": cannot parse',
    ],
    [
      'bad labels',
      '',
      '{a=',
      "couldn't parse labels: 1:4: parse error: unexpected end of input inside braces",
    ],
    ['line a number', '{"line":1}', '{}', STRING],
    ['entry an array', '[]', '{}', OBJECT],
  ];
  test.each(refused)('%s', (_, entries, labels, message) => {
    expect(refusal(() => legacy(entries, labels))).toEqual([400, message]);
  });

  test('refuses an empty body', () => {
    expect(refusal(() => atOnce(decodeLegacyJsonPush(Buffer.alloc(0))))).toEqual([400, 'EOF']);
  });

  test('decodes null as an empty push', () => {
    expect(atOnce(decodeLegacyJsonPush(Buffer.from('null'))).streams).toEqual([]);
  });
});
