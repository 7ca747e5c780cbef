import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJsonPath } from '../../shared/execution/pipeline/json-path.ts';
import { labelsAfter, type Texts } from './support.ts';

describe('paths', () => {
  test.each<[string, (string | number)[]]>([
    ['a', ['a']],
    ['a.b_1.C', ['a', 'b_1', 'C']],
    [' a . b [ 0 ] ["x y"]', ['a', 'b', 0, 'x y']],
    ['a.b \t', ['a', 'b']],
    ['["a.b"]', ['a.b']],
    ['[0]', [0]],
    ['[0][12].a', [0, 12, 'a']],
    ['[""]', ['']],
  ])('%s', (text, want) => {
    expect(parseJsonPath(text)).toEqual(want);
  });

  test.each([
    ['', 'syntax error: unexpected $end, expecting LSB or FIELD'],
    ['a..b', 'syntax error: unexpected DOT, expecting FIELD'],
    ['.a', 'syntax error: unexpected DOT, expecting LSB or FIELD'],
    ['a.', 'syntax error: unexpected $end, expecting FIELD'],
    ['a-b', 'unexpected char -'],
    ['a[b]', 'syntax error: unexpected FIELD, expecting STRING or INDEX'],
    ['b[', 'syntax error: unexpected $end, expecting STRING or INDEX'],
    ['b[0', 'syntax error: unexpected $end, expecting RSB'],
    ['a b', 'syntax error: unexpected FIELD'],
    ['1', 'syntax error: unexpected INDEX, expecting LSB or FIELD'],
  ])('%j is refused', (text, message) => {
    expect(() => parseJsonPath(text)).toThrow(new Error(`cannot parse expression [${text}]: ${message}`));
  });

  test('refuses more parts than the limit', () => {
    expect(() => parseJsonPath('a'.concat('.a'.repeat(300)))).toThrow('more than 256 parts');
  });
});

describe('values', () => {
  test.each<[string, string, Texts]>([
    ['a', '{"a":"x"}', { a: 'x' }],
    ['a="b"', '{"b":1.50}', { a: '1.50' }],
    ['a="b.c"', '{"b":{"x":0,"c":true}}', { a: 'true' }],
    ['a="b"', '{"b":null}', { a: '' }],
    ['a="b"', '{"b":{"c": [1, 2]}}', { a: '{"c": [1, 2]}' }],
    ['a="b"', '{"b":[1,{"c":2}]}', { a: '[1,{"c":2}]' }],
    ['a="b[1]"', '{"b":[1,"two",3]}', { a: 'two' }],
    ['a="b[1].c[0]"', '{"b":[1,{"c":["x"]}]}', { a: 'x' }],
    ['a="b[0][1]"', '{"b":[[1,2],3]}', { a: '2' }],
    ['a="[1].b"', '[0,{"b":"x"}]', { a: 'x' }],
    ['a="b[9]"', '{"b":[1]}', { a: '' }],
    ['a="[\\"k k\\"]"', '{"k k":"x"}', { a: 'x' }],
    ['a="b"', '{"\\u0062":"x\\ty"}', { a: 'x\ty' }],
    ['a="b"', '{"b":"\\x"}', { a: '' }],
    // A key with a bad escape ends the search in its value.
    ['a="b",c="d"', '{"b":"1","\\ud800":2,"d":"3"}', { a: '1', c: '' }],
    ['a="b",c="d"', '{"b":"1","e":{"f":{"\\x":2}},"d":"3"}', { a: '1', c: '' }],
    ['a="b",c="d"', '{"b":"1","e":[{"\\x":2}],"d":"3"}', { a: '1', c: '3' }],
    ['a="b[0].c",d="e"', '{"b":[{"\\x":1,"c":2}],"e":3}', { a: '', d: '3' }],
    ['a="b[0].c",d="e"', '{"b":[{"z":{"\\x":1},"c":2}],"e":3}', { a: '2', d: '3' }],
    ['a="b"', '{"c":1}', { a: '' }],
    ['a="b",c="b",d="b.e"', '{"b":{"e":1}}', { a: '{"e":1}', c: '{"e":1}', d: '1' }],
    ['a="b"', '{"b":1,"b":2}', { a: '1' }],
    ['a="b.c"', '{"b":1,"b":{"c":2}}', { a: '2' }],
    ['a="b",a="c"', '{"c":1,"b":2}', { a: '2' }],
    ['app="b"', '{"b":1}', { app_extracted: '1' }],
    ['app="b"', '{}', {}],
    ['a="b"', '', {}],
    ['a="b"', '"x"', { a: '' }],
  ])('json %s of %j', (expressions, line, want) => {
    expect(labelsAfter(`| json ${expressions}`, line)).toEqual(want);
  });

  test.each<[string, string, Texts]>([
    // Any quoted text before a colon is a key.
    ['a="b"', '{"x"="y","b":1}', { a: '1' }],
    ['a="b.c"', '{"x"="y" "b":{"c":2', { a: '2' }],
    ['a="b"', '{"b":1', { a: '1' }],
    ['a="b[0]"', '{"b":["x', { a: '' }],
    ['a="b",c="d"', '{"d":{"b":1},"b":2}', { a: '2', c: '{"b":1}' }],
    ['a="b"', '} {"b":1}', { __error__: 'JSONParserErr' }],
    ['a="b"', ' {"b":1}', { __error__: 'JSONParserErr' }],
    ['a="b"', '5', { __error__: 'JSONParserErr' }],
    [
      'a="b",c="d"',
      '{"b":xyz,"d":1}',
      { a: '', c: '1', __error__: 'JSONParserErr', __error_details__: 'Unknown value type' },
    ],
    [
      'a="b"',
      '{"b":"x',
      {
        a: '',
        __error__: 'JSONParserErr',
        __error_details__: `Value is string, but can't find closing '"' symbol`,
      },
    ],
  ])('json %s of the broken %j', (expressions, line, want) => {
    expect(labelsAfter(`| json ${expressions}`, line)).toEqual(want);
  });

  test('a filter that follows may end the walk, with the same answer', () => {
    expect(labelsAfter('| json a="b", c="d" | a="1"', '{"b":1,"d":2}')).toEqual({ a: '1', c: '2' });
    expect(labelsAfter('| json a="b", c="d" | a="2"', '{"b":1,"d":2}')).toBe('dropped');
    expect(labelsAfter('| json a="b", a="c" | a="2"', '{"b":1,"c":2}')).toEqual({ a: '2' });
  });

  test('hostile nesting costs one pass', () => {
    const deep = 100_000;
    expect(labelsAfter('| json a="b"', `{"x":${'{"b":'.repeat(deep)}`)).toEqual({ a: '' });
    expect(labelsAfter('| json a="b[0][0]"', `{"b":${'['.repeat(deep)}`)).toEqual({ a: '' });
  });

  test('agrees with JSON.parse on sound documents', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const document = fc.letrec(tie => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(key, tie('value')),
    })).object;
    const part = fc.oneof(key, fc.nat(2));
    fc.assert(
      fc.property(document, fc.tuple(key, part, part), fc.nat(3), (object, path, length) => {
        const parts = path.slice(0, Math.max(1, length));
        let value: unknown = object;
        for (const item of parts) {
          const isIndex = typeof item === 'number' && Array.isArray(value);
          const isField =
            typeof item === 'string' && typeof value === 'object' && value !== null && !Array.isArray(value);
          value = isIndex || isField ? (value as Record<string, unknown>)[item] : undefined;
        }
        const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
        const expression = parts
          .map((item, i) => (typeof item === 'number' ? `[${item}]` : i === 0 ? item : `.${item}`))
          .join('');
        expect(labelsAfter(`| json out="${expression}"`, JSON.stringify(object))).toEqual({ out: text });
      }),
    );
  });
});
