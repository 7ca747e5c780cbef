import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_JSON_DEPTH } from '../../shared/base/text/json-scan.ts';
import { labelsAfter, runLog, samplesOf, type Texts } from './support.ts';

const OBJECT = "Value looks like object, but can't find closing '}' symbol";
const ARRAY = "Value is array, but can't find closing ']' symbol";
const STRING = `Value is string, but can't find closing '"' symbol`;
const MALFORMED = 'Malformed JSON error';
const UNKNOWN = 'Unknown value type';
const ESCAPE = 'Encountered an invalid escape sequence in a string';

const failed = (details: string, labels: Texts = {}): Texts => ({
  ...labels,
  __error__: 'JSONParserErr',
  __error_details__: details,
});

describe('fields that become labels', () => {
  test.each<[string, Texts]>([
    ['{"a":"b"}', { a: 'b' }],
    [' \t\r\n{ "a" : "b" , "c" : 1 } trailing', { a: 'b', c: '1' }],
    ['{"a":"b",}', { a: 'b' }],
    ['{}', {}],
    ['{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"}', { a: '"\\/\b\f\n\r\té😀' }],
    ['{"a":"\\x","b":"\\ud83d","c":"\\udc00 x","d":"1"}', { a: '', b: '', c: '', d: '1' }],
    [
      '{"a":1.50,"b":1e3,"c":-0,"d":01,"e":1e,"f":-}',
      { a: '1.50', b: '1e3', c: '-0', d: '01', e: '1e', f: '-' },
    ],
    ['{"a":true,"b":false,"c":null}', { a: 'true', b: 'false' }],
    ['{"a":[1,{"b":2}],"c":3}', { c: '3' }],
    ['{"a":{"b":1,"c":{"d":"x"}},"e":2}', { a_b: '1', a_c_d: 'x', e: '2' }],
    ['{"1":{"2":3},"a":{"1":4}}', { _1_2: '3', a_1: '4' }],
    ['{"a":{"":{"b":1}}}', { a_b: '1' }],
    ['{"a":{"":1}}', { a: '1' }],
    ['{"":{"b":1}}', { b: '1' }],
    ['{"":1,"  ":2,"c":3}', { c: '3' }],
    ['{"a":1,"a":2}', { a: '1' }],
    ['{"a_b":1,"a":{"b":2}}', { a_b: '1' }],
    ['{"a":{"b":2},"a_b":1}', { a_b: '2' }],
    [
      '{"a-b":1,"c.d":2,"é":3," pad ":4,"9":5,"日本":6}',
      { a_b: '1', c_d: '2', _: '3', pad: '4', _9: '5', __: '6' },
    ],
    ['{"a":"","b":"x"}', { a: '', b: 'x' }],
    ['{"\\u0061b":"1"}', { ab: '1' }],
    ['{"app":"y","n":{"app":"z"}}', { app_extracted: 'y', n_app: 'z' }],
    [
      '{"__proto__":"p","constructor":"c","a":{"__proto__":1}}',
      { ['__proto__']: 'p', constructor: 'c', a___proto__: '1' },
    ],
    ['{"a":"x\ufffdy"}', { a: 'x y' }],
    ['{"a":{"b":{}},"c":{},"d":1}', { d: '1' }],
  ])('%j', (line, want) => {
    expect(labelsAfter('| json', line)).toEqual(want);
  });

  test('a broken byte is one space each', () => {
    const line = Buffer.concat([Buffer.from('{"a":"x'), Buffer.from([0xe2, 0x82, 0xff]), Buffer.from('y"}')]);
    expect(labelsAfter('| json', line)).toEqual({ a: 'x   y' });
  });

  test('names that the metadata has take the suffix, on the last part of a path', () => {
    const metadata = { a: 'm', n_b: 'm' };
    expect(labelsAfter('| json', '{"a":1,"n":{"b":2}}', metadata)).toEqual({
      a: 'm',
      n_b: 'm',
      a_extracted: '1',
      n_b_extracted: '2',
    });
  });
});

describe('failures', () => {
  test.each<[string, Texts]>([
    ['', failed(OBJECT)],
    ['   ', failed(OBJECT)],
    ['plain', failed(OBJECT)],
    ['[1]', failed(OBJECT)],
    ['"a"', failed(OBJECT)],
    ['{a:1}', failed(OBJECT)],
    ['{"a":1 "b":2}', failed(OBJECT, { a: '1' })],
    ['{"a":1]', failed(OBJECT, { a: '1' })],
    ['{"a":12', failed(ARRAY, { a: '12' })],
    ['{"a":"x"', failed(ARRAY, { a: 'x' })],
    ['{"a":1,', failed(ARRAY, { a: '1' })],
    ['{', failed(MALFORMED)],
    ['{"a', failed(MALFORMED)],
    ['{"a"', failed(MALFORMED)],
    ['{"a":', failed(MALFORMED)],
    ['{"a" 1}', failed(MALFORMED)],
    ['{"a":"x', failed(STRING)],
    ['{"a":"x\\"', failed(STRING)],
    ['{"a":[1', failed(ARRAY)],
    ['{"a":{"b":1', failed(OBJECT)],
    ['{"z":0,"a":{"b":1,"c":{"d":2}', failed(OBJECT, { z: '0' })],
    ['{"a":xyz}', failed(UNKNOWN)],
    ['{"a":tru', failed(UNKNOWN)],
    ['{"a":nul}', failed(UNKNOWN)],
    ['{"a\\x":1}', failed(ESCAPE)],
    ['{"a":{"b":1,"c":x},"d":2}', failed(UNKNOWN, { a_b: '1' })],
    ['{"a":{"b":1 "c":2}}', failed(OBJECT, { a_b: '1' })],
    ['{"a":{"b\\x":1}}', failed(ESCAPE)],
    ['{"a":{"b":1,"c":"}', failed(OBJECT)],
  ])('%j', (line, want) => {
    expect(labelsAfter('| json', line)).toEqual(want);
  });

  test('brackets inside an array and quotes inside a number confuse only the reference', () => {
    // An array is matched by its own brackets; the object around it by braces, the one in the array included.
    expect(labelsAfter('| json', '{"a":{"b":[{],"c":1}}')).toEqual(failed(ARRAY, { a_c: '1' }));
    expect(labelsAfter('| json', '{"a":{"b":[{],"c":1}')).toEqual(failed(OBJECT));
    expect(labelsAfter('| json', '{"a":[{],"c":1}')).toEqual({ c: '1' });
    expect(labelsAfter('| json', '{"a":{"b":1"}"},"c":2}')).toEqual({ a_b: '1"', c: '2' });
  });
});

describe('with other stages', () => {
  test('keeps earlier extracted labels', () => {
    expect(labelsAfter('| label_format a="1" | json', '{"a":"2","b":"3"}')).toEqual({ a: '1', b: '3' });
    expect(labelsAfter('| json | json', '{"a":"2"}')).toEqual({ a: '2' });
    expect(labelsAfter('| drop app | json', '{"app":"2"}')).toEqual({ app: undefined, app_extracted: '2' });
  });

  test('reads the line as it is then', () => {
    expect(labelsAfter('| line_format `{"b":"{{.app}}"}` | json', '{"a":"2"}')).toEqual({ b: 'x' });
  });
});

describe('a restriction to wanted names (docs/dev/logql-semantics.md#parsers-that-are-skipped)', () => {
  test.each<[string, string, Texts | undefined]>([
    ['sum by (a) (count_over_time({app="x"} | json [1m]))', '{"b":1,"a":"2","c":"3"}', { a: '2' }],
    // The rest of the line is not read once all is found.
    ['sum by (a) (count_over_time({app="x"} | json [1m]))', '{"a":"2","b":', { a: '2' }],
    ['sum by (a, b) (count_over_time({app="x"} | json [1m]))', '{"a":"2"}', { a: '2' }],
    ['sum by (n_a) (count_over_time({app="x"} | json [1m]))', '{"n":{"a":1,"b":2}', { n_a: '1' }],
    [
      'sum by (app_extracted) (count_over_time({app="x"} | json [1m]))',
      '{"app":"z"}',
      { app_extracted: 'z' },
    ],
    ['sum(count_over_time({app="x"} | json [1m]))', 'not json', {}],
    ['sum by (a) (count_over_time({app="x"} | json [1m]))', '{"o":{"a":{"a":1}},"a":"2"}', { a: '2' }],
    ['sum by (o_b) (count_over_time({app="x"} | json | o_b="2" [1m]))', '{"o":{"b":1}}', undefined],
    ['sum by (o_b) (count_over_time({app="x"} | json | o_b="1" [1m]))', '{"o":{"b":1}}', { o_b: '1' }],
  ])('%s of %j', (query, line, want) => {
    expect(samplesOf(query, [{ line }])[0]?.labels).toEqual(want);
  });

  test('labels of a failure omit unwanted names', () => {
    const [{ labels }] = samplesOf('sum by (a) (count_over_time({app="x"} | json [1m]))', [
      { line: '{"b":"1","a":"2","a":' },
      { line: '{"b":"1","a' },
    ]).slice(1);
    expect(labels).toEqual({ app: 'x', ...failed(MALFORMED) });
  });

  test('an object that never ends yields nothing, even if it contains all wanted fields', () => {
    const query = 'sum by (n_a) (count_over_time({app="x"} | json [1m]))';
    expect(samplesOf(query, [{ line: '{"n":{"a":1,' }])[0].labels).toEqual({ app: 'x', ...failed(OBJECT) });
  });
});

describe('bounded work', () => {
  test('a name of more than 1024 characters is not a label, nor is anything below it', () => {
    const [fits, long] = ['f'.repeat(1024), 'l'.repeat(1025)];
    const line = `{"${fits}":{"x":1},"a":2,"${long}":{"b":{"c":3}},"d":{"${'e'.repeat(1023)}":4,"g":5}}`;
    expect(labelsAfter('| json', line)).toEqual({ a: '2', d_g: '5' });
    expect(labelsAfter('| json', `{"${fits}":1,"${long}":2}`)).toEqual({ [fits]: '1' });
    expect(labelsAfter('| logfmt', `${fits}=1 ${long}=2 a=3`)).toEqual({ [fits]: '1', a: '3' });
  });

  test('a long key over many leaves ends soon', () => {
    const leaves = Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join();
    expect(labelsAfter('| json', `{"${'x'.repeat(100_000)}":{${leaves}},"a":"b"}`)).toEqual({ a: 'b' });
  });

  test('deep nesting is stepped over below the limit', () => {
    const deep = 100_000;
    const line = `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`;
    expect(labelsAfter('| json', line)).toEqual({});
    expect(labelsAfter('| json', `{"z":1,${line.slice(1)}`)).toEqual({ z: '1' });
    expect(labelsAfter('| json', '{"a":'.repeat(deep))).toEqual(failed(OBJECT));
    expect(labelsAfter('| json', `{"a":${'['.repeat(deep)}`)).toEqual(failed(ARRAY));
    const name = Array.from({ length: MAX_JSON_DEPTH + 1 }, () => 'a').join('_');
    const inside = `${'{"a":'.repeat(MAX_JSON_DEPTH + 1)}1${'}'.repeat(MAX_JSON_DEPTH + 1)}`;
    expect(labelsAfter('| json', inside)).toEqual({ [name]: '1' });
  });

  test('reads very many keys, and keys made to collide', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `"k${i}":${i}`).join(',');
    expect(Object.keys(labelsAfter('| json', `{${many}}`) as Texts)).toHaveLength(100_000);
    // Strings of "Aa" and "BB" have one hash under the usual polynomial.
    const colliding = Array.from({ length: 4096 }, (_, i) =>
      Array.from({ length: 12 }, (_unused, bit) => ((i >> bit) & 1 ? 'Aa' : 'BB')).join(''),
    );
    const line = `{${colliding.map((key, i) => `"${key}":${i}`).join(',')}}`;
    const labels = labelsAfter('| json | json', line) as Texts;
    expect(colliding.every((key, i) => labels[key] === String(i))).toBe(true);
  });

  test('names of lines are forgotten, those of the query are not', () => {
    const entries = Array.from({ length: 40 }, (_, row) => ({
      line: `{${Array.from({ length: 4000 }, (_unused, i) => `"k${row}_${i}":"v"`).join(',')},"app":"j","kept":"${row}"}`,
    }));
    const results = runLog('| json | kept="39" or kept="0"', entries);
    expect(results.map(({ labels }) => [labels.kept, labels.app_extracted, labels.app])).toEqual([
      ['0', 'j', 'x'],
      ['39', 'j', 'x'],
    ]);
    expect(results[1].labels.k39_3999).toBe('v');
    expect(results[1].labels.k0_0).toBeUndefined();
  });
});

describe('properties', () => {
  const flatten = (value: unknown, path: string, out: Texts): Texts => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      if (path !== '' && !Object.hasOwn(out, path)) out[path] = String(value);
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, item] of Object.entries(value))
        flatten(item, path === '' ? key : `${path}_${key}`, out);
    }
    return out;
  };
  // Letters that make no word of the language.
  const key = fc.stringMatching(/^[a-m]{1,3}$/);
  const document = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: 'grapheme' }).filter(text => !text.includes('\ufffd')),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  })).object;

  test('labels of sound documents are those of a plain walk', () => {
    fc.assert(
      fc.property(document, fc.boolean(), (object, pretty) => {
        const line = JSON.stringify(object, null, pretty ? 1 : 0);
        expect(labelsAfter('| json', line)).toEqual(flatten(object, '', {}));
      }),
    );
  });

  test('a restricted extraction finds the same values as the full one', () => {
    fc.assert(
      fc.property(document, key, key, (object, a, b) => {
        const line = JSON.stringify(object);
        const all = flatten(object, '', {});
        const wanted = Object.fromEntries(
          [a, b].filter(name => Object.hasOwn(all, name)).map(name => [name, all[name]]),
        );
        const query = `sum by (${a}, ${b}) (count_over_time({app="x"} | json [1m]))`;
        expect(samplesOf(query, [{ line }])[0].labels).toEqual(wanted);
      }),
    );
  });

  test('any bytes end well, and lines do not influence one another', () => {
    const junk = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' ', 'tru', '{"a":', '"b":{'),
      {
        maxLength: 25,
      },
    );
    fc.assert(
      fc.property(fc.array(junk, { minLength: 1, maxLength: 8 }), lists => {
        const lines = lists.map(parts => parts.join(''));
        const together = runLog(
          '| json',
          lines.map(line => ({ line })),
        );
        const alone = lines.map(line => runLog('| json', [{ line }])[0].labels);
        expect(together.map(({ labels }) => labels)).toEqual(alone);
      }),
    );
  });
});
