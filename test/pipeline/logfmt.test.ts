import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { extractorOf, labelsAfter, runLog, samplesOf, type Texts } from './support.ts';

const failed = (position: number, message: string, labels: Texts = {}): Texts => ({
  ...labels,
  __error__: 'LogfmtParserErr',
  __error_details__: `logfmt syntax error at pos ${position} : ${message}`,
});

describe('logfmt', () => {
  test.each<[string, Texts]>([
    ['', {}],
    ['a=1 b=two', { a: '1', b: 'two' }],
    ['  a=1\t\n b=2\x00c=3  ', { a: '1', b: '2', c: '3' }],
    ['a="x y" b="q\\"\\\\\\/\\\'\\b\\f\\n\\r\\t\\u00e9"', { a: 'x y', b: 'q"\\/\'\b\f\n\r\té' }],
    ['a="\\ud83d\\ude00" b="\\ud83d!" c="\\udc00"', { a: '😀', b: ' !', c: ' ' }],
    ['a="x"b=2', { a: 'x', b: '2' }],
    ['a b= c="" d=1', { d: '1' }],
    ['=x a=1', { a: '1' }],
    ['="x y" a=1', { a: '1' }],
    ['k"x=1 a=1', { a: '1' }],
    ['k=x"y a=1', { a: '1' }],
    ['k=x=y a=1', { a: '1' }],
    ['a=1 k="open b=2', { a: '1' }],
    ['k="\\x" a=1', { a: '1' }],
    ['a.b=1 c-d=2 9=3 é=4', { a_b: '1', c_d: '2', _9: '3', _: '4' }],
    ['a=1 a=2', { a: '1' }],
    ['a= a=2', { a: '2' }],
    ['app=y', { app_extracted: 'y' }],
    ['a=x\ufffdy', { a: 'x y' }],
    ['a\ufffdb=1 c=2', { c: '2' }],
    ['__proto__=1', { ['__proto__']: '1' }],
    ['a=C:\\dir', { a: 'C:\\dir' }],
  ])('%j', (line, want) => {
    expect(labelsAfter('| logfmt', line)).toEqual(want);
  });

  test('broken bytes are spaces', () => {
    expect(labelsAfter('| logfmt', Buffer.from([0x61, 0x3d, 0xff, 0x78]))).toEqual({ a: ' x' });
  });

  test.each<[string, Texts]>([
    ['a b= c="" d=1', { a: '', b: '', c: '', d: '1' }],
    ['a= a=2', { a: '' }],
  ])('--keep-empty %j', (line, want) => {
    expect(labelsAfter('| logfmt --keep-empty', line)).toEqual(want);
  });

  test.each<[string, Texts]>([
    ['a=1 b="x"', { a: '1', b: 'x' }],
    ['a=1 =x b=2', failed(5, "unexpected '='", { a: '1' })],
    ['k"x=1', failed(2, `unexpected '"'`)],
    ['k=x"y', failed(4, `unexpected '"'`)],
    ['a=1 k="open b=2', failed(16, 'unterminated quoted value', { a: '1' })],
    ['k="\\x" a=1', failed(7, 'invalid quoted value')],
    ['a\ufffd=1', failed(5, 'invalid key')],
  ])('--strict %j', (line, want) => {
    expect(labelsAfter('| logfmt --strict', line)).toEqual(want);
  });

  test('keeps an extracted label after it was dropped', () => {
    expect(labelsAfter('| logfmt | drop a | logfmt', 'a=1 b=2')).toEqual({ b: '2' });
    expect(labelsAfter('| logfmt | label_format c=a | logfmt', 'a=1')).toEqual({ c: '1' });
  });

  test.each<[string, string, Texts]>([
    ['sum by (b) (count_over_time({app="x"} | logfmt [1m]))', 'a=1 b=2 c=3', { b: '2' }],
    ['sum by (b) (count_over_time({app="x"} | logfmt --strict [1m]))', 'b=2 c"', { b: '2' }],
    [
      'sum by (b) (count_over_time({app="x"} | logfmt --strict [1m]))',
      'c" b=2',
      { app: 'x', ...failed(2, `unexpected '"'`) },
    ],
    ['sum(count_over_time({app="x"} | logfmt --strict [1m]))', 'c" b=2', {}],
  ])('%s of %j', (query, line, want) => {
    expect(samplesOf(query, [{ line }])[0].labels).toEqual(want);
  });

  test('pairs written as logfmt are read back', () => {
    const name = fc.stringMatching(/^[a-z_]{1,4}$/);
    const value = fc.string().filter(text => text !== '' && !text.includes('\ufffd'));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }), pairs => {
        const line = pairs
          .map(([key, text]) => `${key}=${JSON.stringify(text).replaceAll('\\u007f', '\x7f')}`)
          .join(' ');
        expect(labelsAfter('| logfmt', line)).toEqual(
          Object.fromEntries(pairs.filter(([key]) => key !== 'app')),
        );
      }),
    );
  });

  test('any bytes end well, and lines do not influence one another', () => {
    const junk = fc.array(fc.constantFrom('a', 'b=', '=', '"', '\\', ' ', 'é', '\ufffd', 'c="x"', '\x01'), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.array(junk, { minLength: 1, maxLength: 8 }), fc.boolean(), (lists, strict) => {
        const stage = strict ? '| logfmt --strict' : '| logfmt --keep-empty';
        const lines = lists.map(parts => parts.join(''));
        const alone = lines.map(line => runLog(stage, [{ line }])[0].labels);
        expect(
          runLog(
            stage,
            lines.map(line => ({ line })),
          ).map(({ labels }) => labels),
        ).toEqual(alone);
      }),
    );
  });
});

describe('logfmt with expressions', () => {
  test.each<[string, string, Texts]>([
    ['a="k"', 'k=1', { a: '1' }],
    ['a', 'a="x y"', { a: 'x y' }],
    ['a="k", b', 'x=1', { a: '', b: '' }],
    ['a="k"', 'k=1 k=2', { a: '2' }],
    ['a="k_1"', 'k.1=1', { a: '1' }],
    ['a="k"', 'a=1', { a: '1' }],
    ['a="k"', 'k=1 a=2', { a: '2' }],
    ['a="k", b="k"', 'k=1', { a: '1', b: '1' }],
    ['app="k"', 'k=1', { app_extracted: '1' }],
    ['app="k"', 'k=1 k=2 k=3', { app_extracted: '1' }],
    ['app="k"', 'x=1', {}],
    ['a="k"', 'k=x\ufffd', { a: '' }],
    ['a="k"', 'k="x\\ty"', { a: 'x\ty' }],
    ['a=" k "', 'k=x', { a: 'x' }],
    ['a="k"', 'k=C:\\t', { a: 'C:\\t' }],
    ['a="k"', 'k= ', { a: '' }],
    ['a="\\"k\\""', 'k=1', { a: '1' }],
  ])('%s of %j', (expressions, line, want) => {
    expect(labelsAfter(`| logfmt ${expressions}`, line)).toEqual(want);
  });

  test('a key is found behind any number of others', () => {
    for (let others = 0; others < 600; others++) {
      const line = `${Array.from({ length: others }, (_, i) => `o${i}=0 `).join('')}k=1`;
      expect([others, labelsAfter('| logfmt a="k"', line)]).toEqual([others, { a: '1' }]);
    }
  });

  // Grouping labels, and which fields of the line are read: `app` is a label of the stream, so its value gets
  // the suffix.
  test.each<[string, string, Texts]>([
    ['x', 'k=1 j=2', {}],
    ['x, app_extracted', 'k=1 j=2', { x: '2', app_extracted: '1' }],
    ['x', 'j=2 k=1', { x: '2' }],
  ])('reading ends at a name with a suffix that no stage needs: by (%s), %j', (by, line, want) => {
    const query = `sum by (${by}) (count_over_time({app="x"} | logfmt app="k", x="j" [1m]))`;
    const [{ labels }] = samplesOf(query, [{ line }]);
    // The column of metadata that has the name is read for it.
    expect([...extractorOf(query).needs.metadata]).toContain('app');
    const named = Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
    expect(named).toEqual(want);
  });

  test('--strict stops at the first fault', () => {
    expect(labelsAfter('| logfmt --strict a="k"', 'k=1 x" k=2')).toEqual(
      failed(6, `unexpected '"'`, { a: '1' }),
    );
    expect(labelsAfter('| logfmt a="k"', 'k=1 x" k=2')).toEqual({ a: '2' });
  });

  test.each([
    ['', 'syntax error: unexpected $end, expecting STRING or KEY'],
    ['a b', 'syntax error: unexpected KEY'],
    ['a "b"', 'syntax error: unexpected STRING'],
    ['a.b', 'unexpected char .'],
  ])('%j is refused', (expression, message) => {
    const stage = `| logfmt x=${JSON.stringify(expression)}`;
    expect(() => labelsAfter(stage, '')).toThrow(
      `parse error : stage '${stage}' : cannot parse expression [${expression}]: ${message}`,
    );
  });
});
