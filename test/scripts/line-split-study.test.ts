/** What the study of templates and columns splits comes back byte for byte, or its figures would mean nothing. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileColumnText } from '../../scripts/line-split-study/column-text-kernel.ts';
import { packColumn, unpackColumn } from '../../scripts/line-split-study/column-types.ts';
import { joinPage } from '../../scripts/line-split-study/join.ts';
import { compileJoin } from '../../scripts/line-split-study/join-kernel.ts';
import { pageOf } from '../../scripts/line-split-study/pages.ts';
import { splitPage } from '../../scripts/line-split-study/split.ts';

const LINES = [
  '',
  '{"ts":"2026-11-23T14:12:51.500Z","n":7,"o":{"k":"a \\"b\\" c"},"a":[1,2],"e":""}',
  '{"open":"never closed',
  '{"a":"ends in a backslash\\',
  'level=info msg="two words" took=1.5ms empty= quoted=""',
  '10.0.0.7:8080 -> 10.0.0.8 2026-11-23 1.2.3: 12:',
  'bytes of our own \u0000 and \u0001',
  'no digit at all',
  '=:"=":',
  Array.from({ length: 3000 }, (_, i) => i).join(' '),
];

const columnText = await compileColumnText();
const joinKernel = await compileJoin();

const textOf = (values: readonly string[]) =>
  Buffer.from(values.map(value => `${value}\0`).join(''), 'latin1');

/** Both ways back from the typed column. */
function expectBack(values: readonly string[]): string {
  const text = textOf(values);
  const packed = packColumn(text);
  expect(unpackColumn(packed)).toEqual(text);
  if (packed.type !== 'text') {
    const [bytes] = columnText.lay([packed], [text.length]).toText();
    expect(Buffer.from(bytes)).toEqual(text);
  }
  return packed.type;
}

describe('line split study', () => {
  it('joins what it split', () => {
    const page = pageOf([...LINES, ...LINES].map(line => Buffer.from(line)));
    const split = splitPage(page);
    expect(split.plainLengths).toHaveLength(4);
    expect(joinPage(split, page.lines.length)).toEqual(page.lines);
  });

  it('joins lines of bytes without order', () => {
    let state = 7;
    const random = (below: number) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % below;
    const alphabet = Buffer.from('ab01{}[]":=,\\ .-_\n\u0000\u0001\u00ff', 'latin1');
    const lines = Array.from({ length: 2000 }, () =>
      Buffer.from(
        Array.from({ length: random(60) }, () => alphabet[(random(1 << 20) >> 4) % alphabet.length]),
      ),
    );
    const page = pageOf(lines);
    expect(joinPage(splitPage(page), page.lines.length).equals(page.lines)).toBe(true);
  });

  it.each([
    ['words', ['info', 'warn', 'info', 'info']],
    ['words', ['the only word, longer than a register', 'the only word, longer than a register']],
    ['many words', Array.from({ length: 1200 }, (_, i) => `w${i % 400}`)],
    ['integer', ['0', '-17', '999999999999999', '3']],
    ['decimal', ['0.05', '-1.50', '123456789.99']],
    ['time', ['2026-11-23T14:12:51.004Z', '1969-12-31T23:59:59.999Z']],
    ['time', ['2026-11-23 14:12:51', '2026-11-23 14:12:50']],
    [
      'time',
      ['0000-01-01T00:00:00Z', '2000-02-29T23:59:59Z', '1900-03-01T00:00:00Z', '9999-12-31T23:59:59Z'],
    ],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000', '00000000-0000-0000-0000-000000000001']],
    ['hex', ['00ff00ff', 'deadbeef']],
    ['hex', ['0123456789abcdef0123', 'fedcba98765432100123']],
    ['address', ['10.0.0.1', '255.255.255.255']],
    ['text', ['007', '1']],
    ['text', ['-0.5', '0.5']],
    ['text', ['2026-02-30T00:00:00Z', '2026-11-23T14:12:51Z']],
    ['text', ['256.0.0.1', '10.0.0.1']],
    ['text', ['', 'a']],
  ])('reads a column of %s back', (type, values) => {
    expect(expectBack(values)).toBe(type);
  });

  const digits = (places: number) => (value: number) => String(value).padStart(places, '0');
  const spread = <T>(values: fc.Arbitrary<T>) => fc.array(values, { minLength: 1, maxLength: 300 });

  it.each<[string, fc.Arbitrary<string[]>]>([
    ['integers', spread(fc.maxSafeInteger().map(value => String(value % 10 ** 15)))],
    ['small integers', spread(fc.integer({ min: -3, max: 300 }).map(String))],
    [
      'decimals',
      fc
        .integer({ min: 1, max: 6 })
        .chain(places =>
          spread(
            fc
              .tuple(
                fc.integer({ min: -99_999, max: 999_999_999 }),
                fc.nat(10 ** places - 1).map(digits(places)),
              )
              .map(([whole, rest]) => `${whole}.${rest}`),
          ),
        ),
    ],
    [
      'times',
      spread(
        fc
          .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
          .map(date => date.toISOString()),
      ),
    ],
    ['UUIDs', spread(fc.uuid())],
    ['addresses', spread(fc.ipV4())],
    [
      'hex',
      fc
        .integer({ min: 4, max: 32 })
        .chain(bytes =>
          spread(
            fc
              .uint8Array({ minLength: bytes, maxLength: bytes })
              .map(value => Buffer.from(value).toString('hex')),
          ),
        ),
    ],
    ['any text', spread(fc.string().map(text => text.replaceAll('\0', '')))],
  ])('reads columns of %s back in JavaScript and in the kernel', (_, columns) => {
    fc.assert(fc.property(columns, values => void expectBack(values)));
  });

  it('joins in the kernel what it split, all rows and some', () => {
    const line = fc
      .array(fc.constantFrom('a', '7', '"', ':', '=', '{', ' ', '\0', '\u0001', '"k":"v"', '12.5'), {
        maxLength: 40,
      })
      .map(parts => Buffer.from(parts.join('')));
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 5 }),
        (lines, step) => {
          const page = pageOf(lines);
          const wanted = Uint8Array.from(lines, (_, row) => (row % step === 0 ? 1 : 0));
          const joined = joinKernel.lay(splitPage(page), wanted, page.lines.length).join();
          expect(Buffer.from(joined)).toEqual(Buffer.concat(lines.filter((_, row) => row % step === 0)));
        },
      ),
    );
  });
});
