/**
 * Functions whose results the reference defines (docs/dev/logql-semantics.md#template-functions), and their
 * errors.
 */
import { describe, expect, test } from '@jest/globals';
import { dataOf, failureOf, render } from './sample-data.ts';

const ANSWERS: ReadonlyArray<readonly [string, string]> = [
  ['{{ .level | alignLeft 8 }}|{{ alignRight 8 .level }}|', 'info    |    info|'],
  [
    '{{ alignLeft 2 .level }}|{{ alignRight 2 .level }}|{{ alignLeft 0 .a }}|{{ alignLeft -1 .a }}',
    'in|fo||x',
  ],
  ['{{ alignLeft 8 "wörld" }}|{{ alignRight 3 "a😀b" }}|{{ alignRight 2 "a😀b" }}', 'wörld   |a😀b|😀b'],
  [
    '{{ int "012" }} {{ int "0x1F" }} {{ int "2.5" }} {{ int "-2.7" }} {{ int "x" }} {{ int "08" }}',
    '10 31 2 -2 0 0',
  ],
  [
    '{{ int "1e3" }} {{ int "" }} {{ int "-0x1f" }} {{ int "9223372036854775808" }} {{ add "2.5" "0x10" }}',
    '0 0 -31 0 18',
  ],
  [
    '{{ bytes "5MB" }} {{ bytes "1KiB" }} {{ bytes "85.3kB" }} {{ bytes "1,000" }} {{ bytes "12" }}',
    '5e+06 1024 85300 1000 12',
  ],
  ['{{ duration_seconds .dur }} {{ duration "1ns" }} {{ duration "-1.5h" }}', '90 1e-09 -5400'],
  ['{{ b64dec "aMOp" }} {{ b64dec "aMOpYQ" }} {{ b64dec "aGk=" }} {{ b64dec "" }}|', 'hé héa hi |'],
  ['{{ b64dec "!!" }}', 'illegal base64 data at input byte 0'],
  ['{{ b64dec "aGk*" }}', 'illegal base64 data at input byte 3'],
  ['{{ b64dec "a" }}', 'illegal base64 data at input byte 1'],
  ['{{ b64dec "aGk=aGk=" }}', 'illegal base64 data at input byte 4'],
  ['{{ b64dec "aG\\nk=" }}', 'hi'],
  [
    '{{ regexReplaceAllLiteral "l+" .msg "<$0>" }} {{ regexReplaceAll "(?P<x>l+)" .msg "<$' + '{x}>" }}',
    'he<$0>o wör<$0>d he<ll>o wör<l>d',
  ],
  ['{{ unixToTime "20000" }}', '2024-10-04 00:00:00 +0000 UTC'],
  ['{{ unixToTime "1700000000" }}', '2023-11-14 22:13:20 +0000 UTC'],
  ['{{ unixToTime "1700000000123" }}', '2023-11-14 22:13:20.123 +0000 UTC'],
  ['{{ unixToTime "1700000000123456" | unixEpochNanos }}', '1700000000123456000'],
  ['{{ unixToTime "1700000000123456789" | unixEpochMillis }}', '1700000000123'],
  [
    '{{ date "2006-01-02" "not a time" }} {{ date "2006" 1.5 }} {{ date "15:04:05" now }}',
    '2023-11-14 2023 22:13:20',
  ],
  ['{{ toDateInZone "2006-01-02 15:04" "Asia/Tokyo" "2021-07-01 12:00" | unixEpoch }}', '1625108400'],
  [
    '{{ addf 0.1 0.2 }} {{ subf 0.3 0.1 }} {{ mulf 0.1 3 }} {{ divf 1 3 }} {{ divf -2 3 }}',
    '0.3 0.2 0.3 0.3333333333333333 -0.6666666666666667',
  ],
  ['{{ trunc 1 "é" }}|{{ substr 1 2 "é" }}|{{ trunc -4 "a😀" }}', '\udcc3|\udca9|😀'],
  ['{{ fromJson "[1e400, 1]" }} {{ fromJson "{bad" }} {{ len (fromJson "[[]]") }}', '[<nil> 1] <no value> 1'],
  ['{{ replace "" "-" "" }} {{ replace "" "-" "é" }}', '- -é-'],
];

const FAILURES: ReadonlyArray<readonly [string, string]> = [
  [
    '{{ unixToTime "12" }}',
    `1:3: executing "line" at <unixToTime "12">: error calling unixToTime: unable to parse time '12': %!w(<nil>)`,
  ],
  [
    '{{ unixToTime "ab" }}',
    `1:3: executing "line" at <unixToTime "ab">: error calling unixToTime: unable to parse time 'ab': strconv.ParseInt: parsing "ab": invalid syntax`,
  ],
  [
    '{{ unixToTime "99999999999999999999" }}',
    `1:3: executing "line" at <unixToTime "99999999999999999999">: error calling unixToTime: unable to parse time '99999999999999999999': strconv.ParseInt: parsing "99999999999999999999": value out of range`,
  ],
  [
    '{{ bytes "5XB" }}',
    '1:3: executing "line" at <bytes "5XB">: error calling bytes: unhandled size name: xb',
  ],
  [
    '{{ bytes .msg }}',
    '1:3: executing "line" at <bytes .msg>: error calling bytes: strconv.ParseFloat: parsing "": invalid syntax',
  ],
  [
    '{{ duration "5" }}',
    '1:3: executing "line" at <duration "5">: error calling duration: time: missing unit in duration "5"',
  ],
  [
    '{{ divf 10 4 2 }} {{ divf 1 0 }}',
    '1:21: executing "line" at <divf 1 0>: error calling divf: decimal division by 0',
  ],
  [
    '{{ regexReplaceAll "(" .msg "x" }}',
    '1:3: executing "line" at <regexReplaceAll "(" .msg "x">: error calling regexReplaceAll: error parsing regexp: missing closing ): `(`',
  ],
  [
    '{{ urldecode "%zz" }}',
    '1:3: executing "line" at <urldecode "%zz">: error calling urldecode: invalid URL escape "%zz"',
  ],
  [
    '{{ repeat -1 .a }}',
    '1:3: executing "line" at <repeat -1 .a>: error calling repeat: strings: negative Repeat count',
  ],
  [
    'é {{ substr 5 2 .msg }}',
    '1:6: executing "line" at <substr 5 2 .msg>: error calling substr: runtime error: slice bounds out of range [5:2]',
  ],
];

const UNKNOWN = [
  'int64',
  'toString',
  'list',
  'dict',
  'env',
  'split',
  'join',
  'ternary',
  'constructor',
  'toString',
  '__proto__',
];

describe('functions', () => {
  for (const [text, want] of ANSWERS) test(text, () => expect(render(text)).toBe(want));
  for (const [text, want] of FAILURES) test(text, () => expect(failureOf(() => render(text))).toBe(want));
  for (const name of UNKNOWN) {
    test(`no function ${name}`, () => {
      expect(failureOf(() => render(`{{ ${name} .a }}`))).toBe(`1: function "${name}" not defined`);
    });
  }

  test('labels named like properties of objects are just labels', () => {
    const data = dataOf(new Map([['constructor', 'c']]));
    expect(render('{{.constructor}}{{.__proto__}}{{.toString}}|{{index . "hasOwnProperty"}}', data)).toBe(
      'c|',
    );
  });

  test('keys of JSON objects reach no prototype', () => {
    expect(render('{{ (fromJson "{\\"__proto__\\":{\\"x\\":1}}").__proto__.x }}')).toBe('1');
    expect(render('{{ (fromJson "{}").constructor }}')).toBe('<no value>');
  });
});
