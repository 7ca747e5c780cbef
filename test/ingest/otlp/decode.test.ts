/** Both encodings of OTLP logs: each row is sent in both, and must give the same entries. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS, DEFAULT_OTLP_RULE, type OtlpConfig } from '../../../shared/base/model/limits.ts';
import { atOnce } from '../../../shared/base/model/steps.ts';
import { decodeJsonLogs } from '../../../shared/write/ingest/otlp/json-logs.ts';
import { decodeProtobufLogs } from '../../../shared/write/ingest/otlp/protobuf-logs.ts';
import { entriesOf, holds, type PlainEntry, refusal } from '../entries.ts';
import {
  jsonOf,
  list,
  map,
  type OtlpAny,
  type OtlpRecord,
  type OtlpRequest,
  pairs,
  protobufOf,
  requestOf,
  text,
} from './otlp-schema.ts';

const NOW = 1_700_000_000_000_000_000n;
const TIME = '1700000001000000002';
const TRACE = '0102030405060708090a0b0c0d0e0f10';
const context = { limits: DEFAULT_LIMITS, nowNs: NOW };

function contextOf(config: Partial<OtlpConfig>, discoverServiceName: readonly string[] = []) {
  return {
    limits: {
      ...DEFAULT_LIMITS,
      discoverServiceName,
      otlpConfig: { ...DEFAULT_LIMITS.otlpConfig, ...config },
    },
    nowNs: NOW,
  };
}

function decodeBoth(request: OtlpRequest, given = context): PlainEntry[] {
  const entries = entriesOf(atOnce(decodeProtobufLogs(protobufOf(request), given)));
  expect(entriesOf(atOnce(decodeJsonLogs(jsonOf(request), given)))).toEqual(entries);
  return entries;
}

const one = (...given: Parameters<typeof requestOf>) => decodeBoth(requestOf(...given))[0];
const bytes = (bytesValue: string): OtlpAny => ({ bytesValue });
const int = (intValue: string): OtlpAny => ({ intValue });
const double = (doubleValue: number | string): OtlpAny => ({ doubleValue });
const bool = (boolValue: boolean): OtlpAny => ({ boolValue });

describe('text of values', () => {
  // [value, its text]
  const rows: [OtlpAny, string][] = [
    [text('it <b>is</b> "so"\n'), 'it <b>is</b> "so"\n'],
    [text(''), ''],
    [{}, ''],
    [bool(true), 'true'],
    [bool(false), 'false'],
    [int('0'), '0'],
    [int('-1'), '-1'],
    [int('1023'), '1023'],
    [int('1024'), '1024'],
    [int('2147483648'), '2147483648'],
    [int('-9007199254740991'), '-9007199254740991'],
    [int('9007199254740993'), '9007199254740993'],
    [int('9223372036854775807'), '9223372036854775807'],
    [int('-9223372036854775808'), '-9223372036854775808'],
    [double(0), '0'],
    [double(1), '1'],
    [double(-1.5), '-1.5'],
    [double(0.1), '0.1'],
    [double(12.003), '12.003'],
    [double(123456789.000001), '123456789.000001'],
    [double(0.1 + 0.2), '0.30000000000000004'],
    [double(0.00001), '0.00001'],
    [double(0.000001), '0.000001'],
    [double(0.0000001), '1e-7'],
    [double(1e20), '100000000000000000000'],
    [double(1e21), '1e+21'],
    [double('NaN'), 'json: unsupported value: NaN'],
    [double('Infinity'), 'json: unsupported value: +Inf'],
    [double('-Infinity'), 'json: unsupported value: -Inf'],
    [bytes(''), ''],
    [bytes('AP/+'), 'AP/+'],
    [bytes('AAE='), 'AAE='],
    [list(), '[]'],
    [
      list(text('a'), int('1'), bool(true), double(0.5), {}, bytes('AAE='), list(), map({})),
      '["a",1,true,0.5,null,"AAE=",[],{}]',
    ],
    [list(text('<&>"\\\n\u0001\u2028é')), '["\\u003c\\u0026\\u003e\\"\\\\\\n\\u0001\\u2028é"]'],
    [list(int('9223372036854775807')), '[9223372036854775807]'],
    [list(double('NaN')), ''],
    [map({ b: text('1'), a: map({ z: int('2') }), é: {} }), '{"a":{"z":2},"b":"1","é":null}'],
    [{ kvlistValue: { values: [...pairs({ a: '1' }), ...pairs({ a: '2' })] } }, '{"a":"2"}'],
  ];
  test.each(rows)('%j', (value, want) => {
    const { line, metadata } = one({
      timeUnixNano: TIME,
      body: value,
      attributes: [{ key: 'x', value: list(value) }],
    });
    expect(line).toBe(want);
    expect(metadata).toHaveLength(1);
  });

  test('keeps the sign of zero', () => {
    const [{ line }] = entriesOf(
      atOnce(decodeProtobufLogs(protobufOf(requestOf({ body: double(-0) })), context)),
    );
    expect(line).toBe('-0');
    const json = Buffer.from(
      jsonOf(requestOf({ body: text('X') }))
        .toString()
        .replace('"stringValue":"X"', '"doubleValue":-0.0'),
    );
    expect(entriesOf(atOnce(decodeJsonLogs(json, context)))[0].line).toBe('-0');
  });

  test('property: formats doubles like JSON', () => {
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.tuple(fc.integer(), fc.constantFrom(1, 10, 100, 1e3, 1e6, 1e7)).map(([n, d]) => n / d),
    );
    fc.assert(
      fc.property(value, number => {
        fc.pre(number !== 0);
        expect(one({ body: double(number) }).line).toBe(JSON.stringify(number));
      }),
    );
  });
});

describe('attributes', () => {
  // [attributes, metadata]
  const rows: [Record<string, OtlpAny | string>, [string, string][]][] = [
    [{ 'http.request.method': 'GET' }, [['http_request_method', 'GET']]],
    [
      { a__b: '1', 'c..d': '2', __e__: '3' },
      [
        ['a_b', '1'],
        ['c_d', '2'],
        ['__e__', '3'],
      ],
    ],
    [{ '2xx': '1' }, [['key_2xx', '1']]],
    [{ empty: '' }, [['empty', '']]],
    [{ none: {} }, [['none', '']]],
    [{ m: map({}) }, []],
    [
      { 'm.n': map({ 'a.b': text('1'), c: map({ d: int('2'), e: list(int('3')) }) }) },
      [
        ['m_n_a_b', '1'],
        ['m_n_c_d', '2'],
        ['m_n_c_e', '[3]'],
      ],
    ],
    [{ m: map({ '': text('1') }) }, [['m_', '1']]],
    [{ 1: map({ x: text('1') }) }, [['key_1_x', '1']]],
  ];
  test.each(rows)('%j', (attributes, want) => {
    expect(one({ attributes: pairs(attributes) }).metadata).toEqual(want);
    expect(one({}, [], { attributes: pairs(attributes) }).metadata).toEqual(want);
    expect(one({}, pairs(attributes)).metadata).toEqual(want);
  });

  test.each(['', '_', '...', 'é'])('the name %j is refused', name => {
    const request = requestOf({ attributes: pairs({ [name]: 'x' }) });
    for (const run of [
      () => atOnce(decodeProtobufLogs(protobufOf(request), context)),
      () => atOnce(decodeJsonLogs(jsonOf(request), context)),
    ]) {
      const [status, message] = refusal(run);
      expect(status).toBe(400);
      expect(message).toMatch(/^symbolizer lookup: (?:label name is empty|normalization for label name)/);
    }
  });

  test('the nesting is bounded', () => {
    // The tests' encoder has its own bound, so build a record around arrays from the inside out.
    const field = (tag: number, content: Buffer) =>
      Buffer.concat([Buffer.from([tag, 0x80 | (content.length % 128), content.length >> 7]), content]);
    const protobufOfDepth = (depth: number) => {
      let value = field(0x0a, Buffer.from('x'));
      for (let i = 0; i < depth; i++) value = field(0x2a, field(0x0a, value));
      return [0x2a, 0x12, 0x12, 0x0a].reduce((content, tag) => field(tag, content), value);
    };
    const jsonOfDepth = (depth: number) => {
      let value: OtlpAny = text('x');
      for (let i = 0; i < depth; i++) value = list(value);
      return jsonOf(requestOf({ body: value }));
    };
    const line = `${'['.repeat(64)}"x"${']'.repeat(64)}`;
    expect(entriesOf(atOnce(decodeProtobufLogs(protobufOfDepth(64), context)))[0].line).toBe(line);
    expect(entriesOf(atOnce(decodeJsonLogs(jsonOfDepth(64), context)))[0].line).toBe(line);
    const want = [400, 'values nested deeper than 64'];
    expect(refusal(() => atOnce(decodeProtobufLogs(protobufOfDepth(65), context)))).toEqual(want);
    expect(refusal(() => atOnce(decodeJsonLogs(jsonOfDepth(65), context)))).toEqual(want);
  });
});

describe('records', () => {
  const fields: OtlpRecord = {
    timeUnixNano: TIME,
    observedTimeUnixNano: '1700000003000000004',
    severityNumber: 17,
    severityText: 'ERROR',
    body: text('line'),
    attributes: pairs({ a: '1', event_name: 'attribute', 'event.name': 'other', z: '2' }),
    droppedAttributesCount: 3,
    flags: 1,
    traceId: TRACE,
    spanId: '0a0b0c0d0e0f0001',
    eventName: 'clicked',
  };

  test('map to fields, with metadata in the order record, resource, scope', () => {
    const resource = pairs({ 'service.name': 'shop', 'host.name': 'h1', 'k8s.pod.name': 'p' });
    const scope = { name: 'lib', version: '1.2', attributes: pairs({ s: 't' }), droppedAttributesCount: 7 };
    expect(one(fields, resource, scope)).toEqual({
      stream: '{k8s_pod_name="p", service_name="shop"}',
      ns: BigInt(TIME),
      line: 'line',
      metadata: [
        ['a', '1'],
        ['event_name', 'other'],
        ['z', '2'],
        ['observed_timestamp', '1700000003000000004'],
        ['severity_number', '17'],
        ['severity_text', 'ERROR'],
        ['dropped_attributes_count', '3'],
        ['flags', '1'],
        ['trace_id', TRACE],
        ['span_id', '0a0b0c0d0e0f0001'],
        ['event_name', 'clicked'],
        ['host_name', 'h1'],
        ['s', 't'],
        ['scope_name', 'lib'],
        ['scope_version', '1.2'],
        ['scope_dropped_attributes_count', '7'],
      ],
    });
  });

  // [record, ns, metadata]
  const rows: [string, OtlpRecord, bigint, [string, string][]][] = [
    ['observed time alone is the time', { observedTimeUnixNano: TIME }, BigInt(TIME), []],
    ['no time at all is now', {}, NOW, []],
    [
      'observed time before 1970',
      { timeUnixNano: '1', observedTimeUnixNano: '18446744073709551615' },
      1n,
      [['observed_timestamp', '-1']],
    ],
    ['time beyond 2^63', { timeUnixNano: '9223372036854775808' }, -(2n ** 63n), []],
    ['the last nanosecond', { timeUnixNano: '9223372036854775807' }, 2n ** 63n - 1n, []],
    ['ids of zeros are not set', { traceId: '0'.repeat(32), spanId: '0'.repeat(16) }, NOW, []],
    [
      'an attribute event_name stays without the field',
      { attributes: pairs({ event_name: 'x' }) },
      NOW,
      [['event_name', 'x']],
    ],
    ['severity out of range', { severityNumber: 99 }, NOW, [['severity_number', '99']]],
    [
      'zeros are not set',
      { severityNumber: 0, flags: 0, droppedAttributesCount: 0, severityText: '', eventName: '' },
      NOW,
      [],
    ],
    [
      'large flags',
      { flags: 4294967295, droppedAttributesCount: 4294967295 },
      NOW,
      [
        ['dropped_attributes_count', '4294967295'],
        ['flags', '4294967295'],
      ],
    ],
  ];
  test.each(rows)('%s', (_, record, ns, metadata) => {
    const entry = one(record);
    expect([entry.ns, entry.metadata]).toEqual([ns, metadata]);
  });

  test('keep their order and stay separate without a time', () => {
    const entries = decodeBoth({
      resourceLogs: [
        {
          scopeLogs: [{ logRecords: [{ body: text('x') }, { body: text('x') }, { timeUnixNano: TIME }, {}] }],
        },
      ],
    });
    expect(entries.map(({ ns }) => ns)).toEqual([NOW, NOW + 1n, BigInt(TIME), NOW + 2n]);
  });

  test('keep their order over midnight without a time', () => {
    const midnight = (NOW / 86_400_000_000_000n + 1n) * 86_400_000_000_000n;
    const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [{}, {}] }] }] };
    const entries = decodeBoth(request, { ...context, nowNs: midnight - 1n });
    expect(entries.map(({ ns }) => ns)).toEqual([midnight - 1n, midnight]);
  });

  test('give no streams if there are none', () => {
    for (const request of [
      { resourceLogs: [] },
      { resourceLogs: [{ resource: { attributes: pairs({ a: '1' }) }, scopeLogs: [] }] },
    ]) {
      expect(atOnce(decodeProtobufLogs(protobufOf(request), context)).streams).toEqual([]);
      expect(atOnce(decodeJsonLogs(jsonOf(request), context)).streams).toEqual([]);
    }
  });

  test('do not inherit from other scopes and resources', () => {
    const entries = decodeBoth({
      resourceLogs: [
        {
          resource: { attributes: pairs({ 'service.name': 'a', r: '1' }) },
          scopeLogs: [
            { scope: { name: 's1', attributes: pairs({ x: '1' }) }, logRecords: [{ body: text('1') }] },
            { logRecords: [{ body: text('2') }] },
          ],
        },
        { scopeLogs: [{ scope: { version: '2' }, logRecords: [{ body: text('3') }] }] },
        {
          resource: { attributes: pairs({ 'service.name': 'a' }) },
          scopeLogs: [{ logRecords: [{ body: text('4') }] }],
        },
      ],
    });
    expect(entries.map(({ stream, metadata }) => [stream, metadata])).toEqual([
      [
        '{service_name="a"}',
        [
          ['r', '1'],
          ['x', '1'],
          ['scope_name', 's1'],
        ],
      ],
      ['{service_name="a"}', [['r', '1']]],
      ['{service_name="unknown_service"}', [['scope_version', '2']]],
      ['{service_name="a"}', []],
    ]);
  });
});

describe('labels', () => {
  test.each(DEFAULT_OTLP_RULE.attributes)('include %s', attribute => {
    const given = contextOf({});
    const [{ stream, metadata }] = decodeBoth(requestOf({}, pairs({ [attribute]: 'v' })), given);
    expect(stream).toBe(`{${attribute.replaceAll('.', '_')}="v"}`);
    expect(metadata).toEqual([]);
  });

  const rule = (action: 'index_label' | 'structured_metadata' | 'drop', of: string[] | string) =>
    typeof of === 'string'
      ? { action, attributes: [], regex: of }
      : { action, attributes: of, regex: undefined };
  const resource = pairs({ 'service.name': 'shop', 'team.name': 'x', 'team.id': '7', secret: 's' });
  const record = {
    severityText: 'WARN',
    attributes: pairs({ 'user.id': 'u', path: '/', m: map({ a: text('1') }) }),
  };
  const scope = { attributes: pairs({ 'lib.a': '1', 'lib.b': '2' }) };

  // [case, otlp_config, stream, metadata names]
  const rows: [string, Partial<OtlpConfig>, string, string[]][] = [
    [
      'defaults',
      {},
      '{service_name="shop"}',
      ['user_id', 'path', 'm_a', 'severity_text', 'team_name', 'team_id', 'secret', 'lib_a', 'lib_b'],
    ],
    [
      'the first rule that fits',
      {
        resourceAttributes: {
          ignoreDefaults: false,
          attributesConfig: [
            DEFAULT_OTLP_RULE,
            rule('drop', ['service.name', 'secret']),
            rule('index_label', 'team\\..*'),
            rule('drop', '.*'),
          ],
        },
      },
      '{service_name="shop", team_id="7", team_name="x"}',
      ['user_id', 'path', 'm_a', 'severity_text', 'lib_a', 'lib_b'],
    ],
    [
      'without the defaults',
      {
        resourceAttributes: {
          ignoreDefaults: true,
          attributesConfig: [rule('index_label', ['secret']), rule('drop', 'team.name')],
        },
      },
      '{secret="s"}',
      ['user_id', 'path', 'm_a', 'severity_text', 'service_name', 'team_id', 'lib_a', 'lib_b'],
    ],
    [
      'an expression fits the whole name',
      { scopeAttributes: [rule('drop', 'lib')] },
      '{service_name="shop"}',
      ['user_id', 'path', 'm_a', 'severity_text', 'team_name', 'team_id', 'secret', 'lib_a', 'lib_b'],
    ],
    [
      'scope attributes',
      { scopeAttributes: [rule('drop', ['lib.a'])] },
      '{service_name="shop"}',
      ['user_id', 'path', 'm_a', 'severity_text', 'team_name', 'team_id', 'secret', 'lib_b'],
    ],
    [
      'record attributes',
      { logAttributes: [rule('index_label', ['user.id', 'm']), rule('drop', ['path'])] },
      '{m_a="1", service_name="shop", user_id="u"}',
      ['severity_text', 'team_name', 'team_id', 'secret', 'lib_a', 'lib_b'],
    ],
    [
      'severity',
      { severityTextAsLabel: true },
      '{service_name="shop", severity_text="WARN"}',
      ['user_id', 'path', 'm_a', 'severity_text', 'team_name', 'team_id', 'secret', 'lib_a', 'lib_b'],
    ],
  ];
  test.each(rows)('%s', (_, config, stream, names) => {
    const [entry] = decodeBoth(requestOf(record, resource, scope), contextOf(config));
    expect([entry.stream, entry.metadata.map(([name]) => name)]).toEqual([stream, names]);
  });

  test('drop an attribute of any name', () => {
    const given = contextOf({ logAttributes: [rule('drop', ['', '_'])] });
    expect(decodeBoth(requestOf({ attributes: pairs({ '': 'x', _: 'y' }) }), given)[0].metadata).toEqual([]);
  });

  test('labels of a record replace those of its resource; an empty one removes it', () => {
    const given = contextOf({ logAttributes: [rule('index_label', '.*')] });
    const records = [
      { attributes: pairs({ 'service.name': 'mine', n: { intValue: '5' } }) },
      { attributes: pairs({ 'service.name': '' }) },
      {},
    ];
    const entries = decodeBoth(
      {
        resourceLogs: [
          {
            resource: { attributes: pairs({ 'service.name': 'shop' }) },
            scopeLogs: [{ logRecords: records }],
          },
        ],
      },
      given,
    );
    expect(entries.map(({ stream }) => stream)).toEqual([
      '{n="5", service_name="mine"}',
      '{}',
      '{service_name="shop"}',
    ]);
  });

  test('yield an indexed attribute event_name to the field', () => {
    const given = contextOf({ logAttributes: [rule('index_label', ['event_name'])] });
    const attributes = pairs({ event_name: 'x' });
    const streams = [{ attributes }, { attributes, eventName: 'y' }].map(
      sent => decodeBoth(requestOf(sent), given)[0].stream,
    );
    expect(streams).toEqual(['{event_name="x"}', '{}']);
  });

  // [resource attributes, service_name]
  test.each([
    [{}, 'unknown_service'],
    [{ 'service.name': '' }, 'unknown_service'],
    [{ 'service.name': 's', 'container.name': 'c' }, 's'],
    [{ 'k8s.job.name': 'j', 'container.name': 'c' }, 'c'],
    [{ job: 'only metadata' }, 'unknown_service'],
  ])('have the service_name of %j', (attributes, want) => {
    expect(one({}, pairs(attributes as Record<string, string>)).stream).toContain(`service_name="${want}"`);
  });
});

describe('both encodings', () => {
  const word = fc.string({ maxLength: 12, unit: 'grapheme' });
  const key = fc.oneof(
    fc.constantFrom('a', 'b.c', 'service.name', 'event_name'),
    word.map(name => `k${name}`),
  );
  const { any } = fc.letrec<{ any: OtlpAny }>(tie => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      word.map(text),
      fc.boolean().map(bool),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(value => int(String(value))),
      fc
        .double({ noDefaultInfinity: true, noNaN: true })
        .filter(value => !Object.is(value, -0))
        .map(double),
      fc.uint8Array({ maxLength: 9 }).map(value => bytes(Buffer.from(value).toString('base64'))),
      fc.constant({}),
      fc.array(tie('any'), { maxLength: 3 }).map(values => list(...values)),
      fc
        .array(fc.record({ key: word, value: tie('any') }), { maxLength: 3 })
        .map(values => ({ kvlistValue: { values } })),
    ),
  }));
  const attributes = fc.array(fc.record({ key, value: any }), { maxLength: 4 });
  const time = fc.oneof(fc.constant('0'), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String));
  const id = (length: number) =>
    fc.oneof(
      fc.constant(''),
      fc
        .uint8Array({ minLength: length, maxLength: length })
        .map(value => Buffer.from(value).toString('hex')),
    );
  const record = fc.record(
    {
      timeUnixNano: time,
      observedTimeUnixNano: time,
      severityNumber: fc.integer({ min: 0, max: 30 }),
      severityText: word,
      body: any,
      attributes,
      droppedAttributesCount: fc.nat(),
      flags: fc.integer({ min: 0, max: 0xffff_ffff }),
      traceId: id(16),
      spanId: id(8),
      eventName: word,
    },
    { requiredKeys: [] },
  );
  const request: fc.Arbitrary<OtlpRequest> = fc.record({
    resourceLogs: fc.array(
      fc.record(
        {
          resource: fc.record({ attributes }),
          scopeLogs: fc.array(
            fc.record(
              {
                scope: fc.record({ name: word, version: word, attributes }, { requiredKeys: [] }),
                logRecords: fc.array(record, { maxLength: 4 }),
              },
              { requiredKeys: ['logRecords'] },
            ),
            { maxLength: 2 },
          ),
        },
        { requiredKeys: ['scopeLogs'] },
      ),
      { maxLength: 3 },
    ),
  });
  const given = contextOf({
    logAttributes: [{ action: 'index_label', attributes: ['b.c'], regex: undefined }],
    severityTextAsLabel: true,
  });

  test('property: decode the same request to the same entries', () => {
    fc.assert(
      fc.property(request, sent => void decodeBoth(sent, given)),
      { numRuns: 400 },
    );
  });

  test('fuzz: fail on a changed or truncated body only with a client error', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
    fc.assert(
      fc.property(request, changes, fc.nat(), fc.boolean(), (sent, changed, cut, isJson) => {
        const body = isJson ? jsonOf(sent) : protobufOf(sent);
        for (const [at, byte] of changed) if (body.length > 0) body[at % body.length] = byte;
        const cutBody = Buffer.from(body.subarray(0, body.length - (cut % (body.length + 1)) * (cut % 2)));
        return holds(() => entriesOf(atOnce((isJson ? decodeJsonLogs : decodeProtobufLogs)(cutBody, given))));
      }),
      { numRuns: 1500 },
    );
  });

  test('fuzz: fail on random bytes only with a client error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), body =>
        holds(() => entriesOf(atOnce(decodeProtobufLogs(Buffer.from(body), context)))),
      ),
      { numRuns: 3000 },
    );
  });
});
