/** Lines of a few shapes with values of every type that columns have, some of which break a type near its edge. */
import fc from 'fast-check';
import { pageOf } from './hostile.ts';

export const pageOfTexts = (texts: readonly string[]) =>
  pageOf(texts.map(text => Buffer.from(text, 'latin1')));

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.maxSafeNat().map(String),
  fc.constantFrom(
    '0',
    '-0',
    '00',
    '-1',
    '0.5',
    '-0.5',
    '-0.0',
    '999999999999999',
    '1000000000000000',
    '1.',
    '.5',
    '-',
  ),
  fc
    .tuple(fc.integer({ min: -999, max: 999 }), fc.nat(999))
    .map(([a, b]) => `${a}.${String(b).padStart(3, '0')}`),
);
const shaped = fc
  .tuple(
    fc.nat(4),
    fc.oneof(
      numberText,
      fc.nat(9999).map(n => String(n).padStart(4, '0')),
    ),
    fc.constantFrom('info', 'warn', 'a b', 'é', ''),
    fc.uint8Array({ minLength: 8, maxLength: 8 }).map(bytes => Buffer.from(bytes).toString('hex')),
    fc.nat(1e9).map(ms => new Date(1_700_000_000_000 + ms).toISOString()),
    fc.uuid(),
  )
  .map(
    ([shape, number, word, hex, time, uuid]) =>
      [
        `{"ts":"${time}","level":"${word}","n":${number},"trace":"${hex}"}`,
        `ts=${time} level=${word} n=${number} id=${uuid}`,
        `${time} "${word} x" ${number} ${hex}f`,
        `{"n": ${number}, "l": "${word}"}`,
        `GET /${number}/${word} ${uuid}`,
      ][shape],
  );
export const shapedPage = fc
  .oneof(
    fc.array(shaped, { maxLength: 40 }),
    // One shape, so that columns keep their types.
    fc
      .array(shaped, { minLength: 8, maxLength: 60 })
      .map(lines => lines.filter(line => line[0] === lines[0][0])),
  )
  .map(pageOfTexts);
