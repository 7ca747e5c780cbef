/** Random lines: JSON and logfmt, sound and broken, over few keys so that fields meet, double and collide. */
import fc from 'fast-check';

const keys = [
  'a',
  'a',
  'b',
  'status',
  'status',
  'd',
  'd',
  'a.b',
  'a_b',
  ' a',
  '',
  'é',
  'app',
  'n',
  'n',
  'k',
  'a_extracted',
  '__error__',
  'st\\u0061tus',
  'bad\\q',
  '_',
  '1',
  'tags',
];
const texts = [
  'x',
  'x',
  'y',
  '',
  ' ',
  'é',
  '200',
  '1.50',
  '12.345ms',
  '7µs',
  '3kb',
  '1.2.3.4',
  '10.0.0.1',
  '\\n',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\q',
  '\\"',
  'a b',
  '\ufffd',
  'NaN',
  '0x1p4',
  '{',
  '}',
  ']',
  '1_000',
];
const numbers = [
  '0',
  '1',
  '2',
  '200',
  '404',
  '500',
  '1.50',
  '1.5',
  '-0',
  '-3',
  '-0.5',
  '01',
  '00',
  '1e3',
  '1E-2',
  '1e',
  '-',
  '1.',
  '0.05',
  '0.050',
  '99999999999999999999',
  '123456789012345',
  '1234567890123456',
  '1.2.3',
  '1e400',
  '12345678.1234567',
];

const json: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: fc.constantFrom(...texts).map(text => `"${text}"`) },
    { weight: 5, arbitrary: fc.constantFrom(...numbers) },
    { weight: 2, arbitrary: fc.constantFrom('true', 'false', 'null', 'null', 'nul', 'xyz', 'True') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '[]',
        '[1,2]',
        '["a",{"a":1}]',
        '[}]',
        '[{]',
        '[1 "status":5]',
        '[[{"a":"]"}]]',
        '["status":3}',
        '[',
      ),
    },
    { weight: 2, arbitrary: tie('object') },
  ),
  object: fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...keys), tie('value')), { maxLength: 5 }),
      fc.constantFrom('', '', '', ' ', '\n', '\t'),
    )
    .map(
      ([members, space]) =>
        `{${members.map(([key, value]) => `"${key}"${space}:${space}${value}`).join(`,${space}`)}${space}}`,
    ),
})).object;

/** Lines as they are: the same few fields, most often sound. */
const usualJson = fc
  .record({
    a: fc.constantFrom('"x"', '"y"', '"z"', '1', '"\\n"'),
    status: fc.oneof(fc.integer({ min: 0, max: 600 }).map(String), fc.constantFrom('"200"', 'null', '1.50')),
    d: fc.integer({ min: -1000, max: 1_000_000 }).map(ms => `"${ms / 1000}ms"`),
    k: fc.constantFrom('1', '"x"', 'true'),
  })
  .map(({ a, status, d, k }) => `{"a":${a},"status":${status},"d":${d},"n":{"k":${k}}}`);

const pair = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...keys.map(key => key.replaceAll('\\', '')), 'a-b'),
      fc.constantFrom(...texts, ...numbers),
    )
    .chain(([key, text]) =>
      fc.constantFrom(`${key}=${text}`, `${key}="${text}"`, `${key}="${text}"`, key, `${key}=`),
    ),
  fc.constantFrom('="x"', '=x', 'a"b=1', 'a=b=c', 'a="x"b=2', '"free text"', 'a="open', 'word'),
);
const logfmt = fc
  .tuple(fc.array(pair, { maxLength: 6 }), fc.constantFrom(' ', ' ', '  ', '\t'))
  .map(([pairs, space]) => pairs.join(space));
const usualLogfmt = fc
  .record({
    a: fc.constantFrom('x', 'y', '"a b"', '"\\n"', '""', ''),
    status: fc.oneof(fc.integer({ min: 0, max: 600 }).map(String), fc.constantFrom('1.50', 'none')),
    d: fc.integer({ min: -1000, max: 1_000_000 }).map(ms => `${ms / 1000}ms`),
  })
  .map(({ a, status, d }) => `status=${status} a=${a} d=${d}`);

/** The line cut, with something behind it, in front of it, or with a byte replaced. */
function damaged(line: fc.Arbitrary<string>): fc.Arbitrary<string | Buffer> {
  return fc.oneof(
    fc.tuple(line, fc.nat(60)).map(([text, end]) => text.slice(0, end)),
    line.map(text => `${text} tail`),
    line.map(text => `${text},"a":1}`),
    line.map(text => ` ${text}`),
    line.map(text => text.replace(/\}$/, ',}')),
    fc
      .tuple(line, fc.nat(200), fc.constantFrom(0xff, 0xc3, 0x00, 0x22, 0x5c, 0x7d, 0x1f))
      .map(([text, at, byte]) => {
        const bytes = Buffer.from(text);
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return bytes;
      }),
  );
}

/** Different keys that give one label. */
const meetingJson = fc
  .array(
    fc.tuple(
      fc.constantFrom('"a.b"', '"a_b"', '"a":{"b"', '"a":{"b "', '" a"', '"a"', '"a":{""'),
      fc.constantFrom('"x"', '1', '2', 'null'),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map(
    members =>
      `{${members.map(([key, value]) => `${key}:${value}${key.includes('{') ? '}' : ''}`).join(',')}}`,
  );
const meetingLogfmt = fc
  .array(fc.tuple(fc.constantFrom('a.b', 'a_b', 'a-b'), fc.constantFrom('x', '1', '2', '')), {
    minLength: 1,
    maxLength: 3,
  })
  .map(pairs => pairs.map(([key, value]) => `${key}=${value}`).join(' '));

export const jsonLines: fc.Arbitrary<string | Buffer> = fc.oneof(
  { weight: 8, arbitrary: usualJson },
  { weight: 5, arbitrary: json },
  { weight: 3, arbitrary: meetingJson },
  { weight: 1, arbitrary: damaged(json) },
  { weight: 1, arbitrary: damaged(usualJson) },
  { weight: 1, arbitrary: logfmt },
);

export const logfmtLines: fc.Arbitrary<string | Buffer> = fc.oneof(
  { weight: 8, arbitrary: usualLogfmt },
  { weight: 5, arbitrary: logfmt },
  { weight: 3, arbitrary: meetingLogfmt },
  { weight: 1, arbitrary: damaged(logfmt) },
  { weight: 1, arbitrary: damaged(usualLogfmt) },
  { weight: 1, arbitrary: json },
);
