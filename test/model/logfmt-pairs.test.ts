import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseLogfmt } from '../../shared/base/text/logfmt-pairs.ts';
import { bySuite } from '../support/suite.ts';

describe('pairs of a line', () => {
  test.each([
    ['level=info msg="request done" took=12ms', { level: 'info', msg: 'request done', took: '12ms' }],
    ['  a=1\tdebug  b= ', { a: '1', debug: '', b: '' }],
    ['a="x \\"y\\" \\u00fc" a=2', { a: 'x "y" ü' }],
    [
      '__proto__=1 constructor=2',
      Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    ],
    ['a="\\q"', { a: '\\q' }],
    ['a\u00a0b=1', { a: '', b: '1' }],
    ['no values', undefined],
    ['a=1 "b"', undefined],
    ['a=b"c', undefined],
    ['a"b"', undefined],
    ['a="b"c', undefined],
    ['a="b', undefined],
    ['a="b\\', undefined],
    ['=1', undefined],
    ['', undefined],
    [`${'n'.repeat(256)}=1`, { ['n'.repeat(256)]: '1' }],
    [`${'n'.repeat(257)}=1`, undefined],
  ])('reads the pairs of %j', (line, want) => {
    const found = parseLogfmt(line);
    expect(found && Object.entries(found)).toEqual(want && Object.entries(want));
  });

  test('are those of an expression', () => {
    const line = fc.string({ unit: fc.constantFrom(...'ab= "\\\n\t\u00a0\u2028'), maxLength: 12 });
    fc.assert(
      fc.property(line, text => {
        const found = parseLogfmt(text);
        expect(found && Object.keys(found)).toEqual(namesByExpression(text));
      }),
      { numRuns: bySuite({ fast: 500, full: 20_000 }) },
    );
  });
});

const PAIR = /([^\s="]{1,256})(=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))?(?:\s+|$)/y;

function namesByExpression(line: string): readonly string[] | undefined {
  const names = new Set<string>();
  let hasValue = false;
  const text = line.trimStart();
  for (PAIR.lastIndex = 0; PAIR.lastIndex < text.length; ) {
    const match = PAIR.exec(text);
    if (match === null) return undefined;
    names.add(match[1]);
    hasValue ||= match[2] !== undefined;
  }
  return hasValue ? [...names] : undefined;
}
