import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodePercent,
  MAX_PARAMETERS,
  param,
  paramValues,
  parseParams,
} from '../../shared/server/http/params.ts';
import { messageThrown, request } from './request.ts';

const parsed = (rawQuery: string) => Object.fromEntries(parseParams(request({ rawQuery })));

describe('query string', () => {
  test.each<[string, Record<string, string[]>]>([
    ['', {}],
    ['a=1', { a: ['1'] }],
    ['a=1&b=2&a=3', { a: ['1', '3'], b: ['2'] }],
    ['a', { a: [''] }],
    ['a=', { a: [''] }],
    ['=x', { '': ['x'] }],
    ['&&a=1&', { a: ['1'] }],
    ['a=b=c', { a: ['b=c'] }],
    ['a=x+y%2Bz', { a: ['x y+z'] }],
    ['match%5B%5D=%7Ba%3D%22b%22%7D', { 'match[]': ['{a="b"}'] }],
    ['a=%C3%A9', { a: ['é'] }],
    ['a=%ff%41', { a: ['\ufffdA'] }],
    ['a=é%ff', { a: ['é\ufffd'] }],
    ['__proto__=1', { ['__proto__']: ['1'] }],
  ])('%s', (raw, want) => {
    expect(parsed(raw)).toEqual(want);
  });

  test.each([
    ['a=%', 'invalid URL escape "%"'],
    ['a=%4', 'invalid URL escape "%4"'],
    ['a=%zz9', 'invalid URL escape "%zz"'],
    ['%g1=a', 'invalid URL escape "%g1"'],
    ['a=%41%4', 'invalid URL escape "%4"'],
    ['a=1;b=2', 'invalid semicolon separator in query'],
  ])('%s is refused', (raw, want) => {
    expect(messageThrown(() => parsed(raw))).toBe(want);
  });

  test('has a bounded number of parameters', () => {
    expect(paramValues(parseParams(request({ rawQuery: 'a&'.repeat(MAX_PARAMETERS) })), 'a')).toHaveLength(
      MAX_PARAMETERS,
    );
    expect(messageThrown(() => parsed('a&'.repeat(MAX_PARAMETERS + 1)))).toBe(
      'too many parameters, limit: 10000',
    );
  });

  test('property: any text survives its encoding', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))),
        pairs => {
          const params = parseParams(request({ rawQuery: new URLSearchParams(pairs).toString() }));
          for (const [name] of pairs) {
            expect(paramValues(params, name)).toEqual(
              pairs.filter(pair => pair[0] === name).map(pair => pair[1]),
            );
          }
        },
      ),
    );
  });

  test('property: any bytes decode like UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array(), bytes => {
        const encoded = [...bytes].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');
        expect(decodePercent(encoded)).toBe(Buffer.from(bytes).toString('utf8'));
      }),
    );
  });
});

describe('form body', () => {
  test('takes precedence over the query string', () => {
    const params = parseParams(request({ form: 'a=form&b=1', rawQuery: 'a=url&c=2' }));
    expect(Object.fromEntries(params)).toEqual({ a: ['form', 'url'], b: ['1'], c: ['2'] });
    expect(param(params, 'a')).toBe('form');
    expect(param(params, 'none')).toBe('');
  });

  test('accepts raw UTF-8', () => {
    expect(param(parseParams(request({ form: 'a=é+%C3%A9' })), 'a')).toBe('é é');
  });

  test.each([
    ['GET', 'application/x-www-form-urlencoded', ''],
    ['DELETE', 'application/x-www-form-urlencoded', ''],
    ['POST', 'application/json', ''],
    ['POST', 'application/x-www-form-urlencoded2', ''],
    ['POST', 'application/x-www-form-urlencoded', '1'],
    ['PUT', 'Application/X-WWW-form-urlencoded; charset=UTF-8', '1'],
    ['PATCH', 'application/x-www-form-urlencoded;', '1'],
  ])('%s with %s is not parsed', (method, type, want) => {
    const params = parseParams(request({ form: 'a=1', method, headers: { 'content-type': type } }));
    expect(param(params, 'a')).toBe(want);
  });

  test('is not parsed without a content type', () => {
    expect(parseParams(request({ form: 'a=1', headers: {} })).size).toBe(0);
  });
});
