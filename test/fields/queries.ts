/** Random pipelines over the fields of lines.ts, and the streams and metadata that collide with them. */
import fc from 'fast-check';
import type { Texts } from '../pipeline/support.ts';
import { jsonLines, logfmtLines } from './lines.ts';

export const streams: fc.Arbitrary<Texts> = fc.constantFrom<Texts[]>(
  { app: 'x' },
  { app: 'x' },
  { app: 'x' },
  { app: 'x', a: 'of the stream' },
  { app: 'x', status: '7' },
  { app: 'x', n_k: '1', a_extracted: 'q' },
);
export const metadata: fc.Arbitrary<Texts> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Texts>({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Texts[]>(
      { a: 'meta' },
      { status: '500' },
      { b: '', trace: 't' },
      { __error__: 'E' },
    ),
  },
);

const names = ['a', 'b', 'status', 'd', 'n_k', 'a_b', 'app'];
const filter = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom('="x"', '=""', '!=""', '!="x"', '=~"x|1.*"', '!~".+"', '="1.50"', '=" "', '="é"'),
    )
    .map(([name, test]) => `${name}${test}`),
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom('>1', '>=200', '!=1.5', '<10ms', '>1KB', '==0', '!=ip("1.2.3.4")', '=ip("10.0.0.0/8")'),
    )
    .map(([name, test]) => `${name}${test}`),
  fc.constantFrom('__error__=""', '__error__="JSONParserErr"', 'a_extracted="x"', 'missing=""', 'missing>1'),
);
const filters = fc.oneof(
  { weight: 5, arbitrary: filter },
  { weight: 1, arbitrary: fc.tuple(filter, filter).map(([x, y]) => `${x} and ${y}`) },
  { weight: 1, arbitrary: fc.tuple(filter, filter).map(([x, y]) => `${x} or ${y}`) },
);
export const before = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  fc.constantFrom(
    '|= "1"',
    '!= "zzz"',
    '| trace="t"',
    '| a>1',
    '| status=ip("1.2.3.4")',
    '| line_format "{{.app}}"',
    '| label_format a=app',
  ),
);
export const after = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: filters.map(text => `| ${text}`) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '| drop a',
          '| keep a, b',
          '| label_format z=a',
          '| label_format a="new"',
          '| line_format "{{.a}}-{{.status}}"',
          '|= "1"',
          '| json',
          '| logfmt',
          '| decolorize',
          '| drop __error__',
          '| json b="a"',
          '| logfmt b',
          '| unpack',
        ),
      },
    ),
    { maxLength: 3 },
  )
  .map(stages => stages.join(' '));

const jsonParsers = fc.constantFrom(
  '| json',
  '| json',
  '| json',
  '| json a="a"',
  '| json a, status',
  '| json k="n.k", s="status"',
  '| json x="[\\"a.b\\"]"',
  '| json x="a.b"',
  '| json a="status"',
  '| json app="a"',
  '| json status="status", n="n"',
  '| json t="tags[0]", a="a"',
  '| json a="a", a="b"',
  '| json b="[\\"a_b\\"]"',
  '| json a="[\\" a\\"]"',
);
const logfmtParsers = fc.constantFrom(
  '| logfmt',
  '| logfmt',
  '| logfmt --strict',
  '| logfmt --keep-empty',
  '| logfmt --strict --keep-empty',
  '| logfmt a, status',
  '| logfmt a="b"',
  '| logfmt a_b',
  '| logfmt --strict a',
  '| logfmt app="app"',
  '| logfmt a="a", d="d"',
);
export const groupings = fc.constantFrom(
  '(a)',
  '(status, b)',
  '(app)',
  '(app, a)',
  '(__error__)',
  '(a_extracted)',
  '(n_k)',
  '(a_b, d)',
  '()',
  '(k, s, x)',
  '(missing)',
);

export const cases = [
  { name: 'json', lines: jsonLines, parsers: jsonParsers },
  { name: 'logfmt', lines: logfmtLines, parsers: logfmtParsers },
];

export const unwraps = fc.constantFrom(
  '',
  '',
  '| unwrap status',
  '| unwrap a',
  '| unwrap duration(d)',
  '| unwrap bytes(b) | __error__=""',
  '| unwrap status | a!=""',
  '| unwrap n_k | status>1',
);
