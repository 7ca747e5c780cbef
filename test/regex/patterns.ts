/** Random patterns of the RE2 dialect and texts that they have a chance to match. */
import fc from 'fast-check';

const letters = [
  'a',
  'b',
  'k',
  'K',
  's',
  'S',
  '1',
  '_',
  '-',
  ' ',
  '\n',
  'é',
  'É',
  'ſ',
  '\u212a',
  'σ',
  'ς',
  '😀',
  '"',
];

export const texts = fc
  .array(fc.constantFrom(...letters, 'ab', 'aa', 'sk'), { maxLength: 14 })
  .map(parts => parts.join(''));

const single = fc.constantFrom(
  ...letters,
  '.',
  '\\.',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '[abk]',
  '[^a]',
  '[a-k]',
  '[]a]',
  '[^]a-]',
  '[\\d_]',
  '[^\\w\\s]',
  '[[:alpha:]]',
  '[[:^digit:]x]',
  '\\pL',
  '\\PN',
  '\\p{Greek}',
  '[\\p{Lu}1]',
  '\\x61',
  '\\x{1F600}',
  '\\141',
  '[é-σ]',
);

const zeroWidth = fc.constantFrom(
  '^',
  '$',
  '\\b',
  '\\B',
  '\\A',
  '\\z',
  '(?m:^)',
  '(?m:$)',
  '(?i)',
  '(?s)',
  '(?U)',
  '(?m)',
);
const counts = fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,2}', '{2,}', '*?', '+?', '??', '{1,3}?');
const openings = fc.constantFrom(
  '(',
  '(?:',
  '(?P<n>',
  '(?<m>',
  '(?i:',
  '(?s:',
  '(?m:',
  '(?U:',
  '(?is:',
  '(?i-s:',
  '(?-i:',
);

/** Valid patterns. Repetitions follow a character, a class or a group, and names repeat, as Go allows. */
export const patterns: fc.Arbitrary<string> = fc.letrec<{ pattern: string; piece: string; atom: string }>(
  tie => ({
    pattern: fc
      .array(fc.array(tie('piece'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
      .map(branches => branches.map(pieces => pieces.join('')).join('|')),
    piece: fc.oneof(
      { weight: 6, arbitrary: tie('atom') },
      { weight: 3, arbitrary: fc.tuple(tie('atom'), counts).map(parts => parts.join('')) },
      { weight: 1, arbitrary: zeroWidth },
      { weight: 1, arbitrary: fc.constantFrom('\\Qa.b\\E', '\\Qa*\\E') },
    ),
    atom: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 5, arbitrary: single },
      { weight: 2, arbitrary: fc.tuple(openings, tie('pattern')).map(([open, inner]) => `${open}${inner})`) },
    ),
  }),
).pattern;
