/** OTLP JSON that our own encoder does not write. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { atOnce } from '../../../shared/base/model/steps.ts';
import { decodeJsonLogs } from '../../../shared/write/ingest/otlp/json-logs.ts';
import { entriesOf, refusal } from '../entries.ts';

const NOW = 1_700_000_000_000_000_000n;
const decode = (text: string | Buffer) =>
  entriesOf(atOnce(decodeJsonLogs(Buffer.from(text as string), { limits: DEFAULT_LIMITS, nowNs: NOW })));
const records = (text: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${text}]}]}]}`;
const one = (record: string) => decode(records(record))[0];

describe('records', () => {
  // [record, ns, line, metadata]
  const rows: [string, bigint, string, [string, string][]][] = [
    ['{}', NOW, '', []],
    ['{"timeUnixNano":5}', 5n, '', []],
    ['{"timeUnixNano":"5"}', 5n, '', []],
    ['{"time_unix_nano":"5","observed_time_unix_nano":7}', 5n, '', [['observed_timestamp', '7']]],
    ['{"timeUnixNano":1.7e18}', NOW, '', []],
    ['{"severityNumber":"SEVERITY_NUMBER_ERROR2"}', NOW, '', [['severity_number', '18']]],
    ['{"severityNumber":"SEVERITY_NUMBER_TRACE"}', NOW, '', [['severity_number', '1']]],
    ['{"severityNumber":-1}', NOW, '', [['severity_number', '-1']]],
    [
      '{"flags":"1","droppedAttributesCount":2.0}',
      NOW,
      '',
      [
        ['dropped_attributes_count', '2'],
        ['flags', '1'],
      ],
    ],
    [
      '{"traceId":"0102030405060708090A0B0C0D0E0F10"}',
      NOW,
      '',
      [['trace_id', '0102030405060708090a0b0c0d0e0f10']],
    ],
    ['{"traceId":"","spanId":null,"body":null,"attributes":null}', NOW, '', []],
    ['{"what":{"a":[1,{"b":"}"}]},"body":{"stringValue":"x","other":[]}}', NOW, 'x', []],
    ['{"body":{"stringValue":"a","intValue":"5"}}', NOW, '5', []],
    ['{"body":{"intValue":5}}', NOW, '5', []],
    ['{"body":{"intValue":-0}}', NOW, '0', []],
    ['{"body":{"intValue":"1e3"}}', NOW, '1000', []],
    ['{"body":{"doubleValue":"1.5"}}', NOW, '1.5', []],
    ['{"body":{"bytesValue":"_-8"}}', NOW, '/+8=', []],
    ['{"body":{"arrayValue":{}}}', NOW, '[]', []],
    [
      '{"body":{"kvlistValue":{"values":[{"value":{"intValue":1},"key":"k"},{"key":"n"}]}}}',
      NOW,
      '{"k":1,"n":null}',
      [],
    ],
    ['{"body":{"stringValue":"\\u00e9\\ud83d\\ude00\\n\\/"}}', NOW, 'é😀\n/', []],
    [
      '{"attributes":[{"value":{"stringValue":"\\"v\\""},"key":"k\\u002e1"},null]}',
      NOW,
      '',
      [['k_1', '"v"']],
    ],
    ['{"attributes":[{"key":"k"}]}', NOW, '', [['k', '']]],
  ];
  test.each(rows)('%s', (record, ns, line, metadata) => {
    const entry = one(record);
    expect([entry.ns, entry.line, entry.metadata]).toEqual([ns, line, metadata]);
  });

  test('accept records before their resource and scope', () => {
    const text = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a\\"b"}}],"scope":{"name":"s"}}],
      "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]}}],"more":1}`;
    expect(decode(text)).toEqual([
      { stream: '{service_name="x"}', ns: NOW, line: 'a"b', metadata: [['scope_name', 's']] },
    ]);
  });

  test('replace invalid UTF-8 in names, values and nested text', () => {
    const text = Buffer.from(
      records(
        '{"timeUnixNano":"1","observedTimeUnixNano":"5","body":{"arrayValue":{"values":[{"stringValue":"<~>"}]}},"attributes":[{"key":"a~b","value":{"stringValue":"~"}},{"key":"m","value":{"kvlistValue":{"values":[{"key":"~c","value":{"stringValue":"~"}}]}}}]}',
      ),
    ).map(byte => (byte === 0x7e ? 0xff : byte));
    expect(decode(Buffer.from(text))[0]).toMatchObject({
      line: '["\\u003c\ufffd\\u003e"]',
      metadata: [
        ['a_b', '\ufffd'],
        ['m_c', '\ufffd'],
        ['observed_timestamp', '5'],
      ],
    });
  });
});

describe('invalid OTLP JSON is refused', () => {
  // [body, message]
  const rows: [string, RegExp][] = [
    ['', /^EOF$/],
    ['[]', /^Value looks like object/],
    ['{"resourceLogs":{}}', /^Value is array/],
    [records('{"timeUnixNano":"x"}'), /^Value looks like Number/],
    [records('{"timeUnixNano":"-1"}'), /overflowed/],
    [records('{"timeUnixNano":"18446744073709551616"}'), /overflowed/],
    [records('{"flags":4294967296}'), /overflowed/],
    [records('{"severityNumber":"INFO"}'), /^unknown severity number$/],
    [records('{"traceId":"01"}'), /^invalid length for TraceID$/],
    [records(`{"spanId":"${'g'.repeat(16)}"}`), /^SpanID is not in hex$/],
    [records('{"body":{"bytesValue":"%%"}}'), /^illegal base64 data$/],
    [records('{"body":{"boolValue":"true"}}'), /^Value looks like Number/],
    [records('{"body":{"intValue":1.5}}'), /^Value looks like Number/],
    [records('{"body":{"intValue":"9223372036854775808"}}'), /overflowed/],
    [records('{"body":{"doubleValue":"x"}}'), /^Value looks like Number/],
    [records('{"body":"text"}'), /^Value looks like object/],
    [records('{"attributes":[{"value":{"stringValue":"x"}}]}'), /^symbolizer lookup: label name is empty$/],
    ['{"resourceLogs":[{"resource":{},"resource":{}}]}', /^duplicate field "resource"$/],
  ];
  test.each(rows)('%s', (text, message) => {
    const [status, told] = refusal(() => decode(text));
    expect(status).toBe(400);
    expect(told).toMatch(message);
  });
});
