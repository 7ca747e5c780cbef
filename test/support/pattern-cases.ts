/**
 * Lines, patterns and their captures: a dense table of lines in which a literal is partly or wholly in a value, values are empty, missing
 * or damaged, and captures end elsewhere than the line's shape suggests. Texts are latin1: each character is a byte.
 */
import { bytes } from './varied-lines.ts';

export type Texts = Readonly<Record<string, string>>;
/** `{clock}` in a line is the time of its row. */
type Case = readonly [line: string, pattern: string, captures: Texts];

const ACCESS = '<ip> - <user> [<_>] "<method> <path> <_>" <status> <size>';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN'.split('');
const WIDE = LETTERS.map((letter, i) => `${letter}=${i}`).join(' ');
const FREE = 'a 1 b 2 c 3';
const CONSTANT = 'a constant text of over 32 bytes in all ';

export const PATTERN_CASES: readonly Case[] = [
  [
    '10.0.0.1 - - [20/Nov/2025:10:00:00 +0000] "GET /a/1 HTTP/1.1" 200 17',
    ACCESS,
    { ip: '10.0.0.1', user: '-', method: 'GET', path: '/a/1', status: '200', size: '17' },
  ],
  // The request lacks its parts: literals are found behind it, or not at all.
  [
    '10.0.0.1 - - [20/Nov/2025:10:00:00 +0000] "-" 400 0',
    ACCESS,
    { ip: '10.0.0.1', user: '-', method: '-"', path: '400' },
  ],
  [
    '10.0.0.1 - - [20/Nov/2025:10:00:00 +0000] "GET /a b/1 HTTP/1.1" 200 17',
    ACCESS,
    { ip: '10.0.0.1', user: '-', method: 'GET', path: '/a', status: '200', size: '17' },
  ],
  [
    '10.0.0.1 - - [20/Nov/2025:10:00:00 +0000] "GET /a" 1 HTTP/1.1" 200 17',
    ACCESS,
    { ip: '10.0.0.1', user: '-', method: 'GET', path: '/a"', status: '200', size: '17' },
  ],
  [
    '10.0.0.1 - - [20/Nov/2025:10:00:00 +0000] "\x16\x03\x01\0 1" 400 0',
    ACCESS,
    { ip: '10.0.0.1', user: '-', method: '\x16\x03\x01\0', path: '1"' },
  ],
  ['10.0.0.1', ACCESS, { ip: '10.0.0.1' }],
  ['', ACCESS, {}],
  // A literal at the start of the line ends inside a value.
  ['10.0.0.77 - x', '10.0.0.<last> - <rest>', { last: '77', rest: 'x' }],
  ['10.0.1.77 - x', '10.0.0.<last> - <rest>', {}],
  ['took 15 ms', 'took 1<n> ms', { n: '5' }],
  ['took 25 ms', 'took 1<n> ms', {}],
  ['took 15', 'took 15<n>', { n: '' }],
  ['took 15', 'took 15 ms<n>', {}],
  // A literal begins with the end of a value, spans one, or is in one.
  ['id=7a b=1', '<x>a b=<y>', { x: 'id=7', y: '1' }],
  ['from 10.0.0.7 to 10.0.0.9', '<x> 10.0.0.7 to <y>', { x: 'from', y: '10.0.0.9' }],
  ['from 10.0.0.8 to 10.0.0.9', '<x> 10.0.0.7 to <y>', { x: 'from 10.0.0.8 to 10.0.0.9' }],
  ['host web-1 - ok 5 - end 6', '<_> - <x>', { x: 'ok 5 - end 6' }],
  ['host web-1 - ok 5 - end 6', '<_>-<x>', { x: '1 - ok 5 - end 6' }],
  [
    'id 5a216720-152f-4c38-3615d5def8eb end',
    'id <x>-<y>-<z> <_>',
    { x: '5a216720', y: '152f', z: '4c38-3615d5def8eb' },
  ],
  // The literal begins twice: once in the value, once behind it.
  ['n=7 msg="x 1"" b=2', '<_> msg="<m>" b=<y>', { m: 'x 1"', y: '2' }],
  ['n=7 msg="x 1" b" b=2', '<_> msg="<m>" b=<y>', { m: 'x 1" b', y: '2' }],
  ['n1aa aab 1', '<x>aa a<y>', { x: 'n1', y: 'ab 1' }],
  ['naaa1aaab 1', '<x>aab <y>', { x: 'naaa1a', y: '1' }],
  ['"a" b" 200 5', '<_>" <x> <y>', { x: 'b"', y: '200 5' }],
  // A literal of constant text is in a value before it, or begins or ends in one.
  ['t=7- k - 5 - z', '<_>- <x>', { x: 'k - 5 - z' }],
  ['t -5 - 6 z', '<_> -<x>', { x: '5 - 6 z' }],
  ['t -5 - 6 z', '<_> - <x>', { x: '6 z' }],
  ['t=-5 u=6-', '<x>-<y>', { x: 't=', y: '5 u=6-' }],
  ['t=-5 u=6-', '<_>6-<y>', { y: '' }],
  [String.raw`msg="a \" 1" n=2`, '<_>" <x>', { x: '1" n=2' }],
  [String.raw`msg="a \" 1" n=2`, '<_>" n=<x>', { x: '2' }],
  ['msg="a n=1" n=2', '<_> n=<x>', { x: '1" n=2' }],
  ['msg="a n=" n=2', '<_>n=<x> n=<y>', { x: '"', y: '2' }],
  ['msg="a 1" to "b 2" to 3', '<_>" to <x>', { x: '"b 2" to 3' }],
  ['msg="a" to 1" to "b 2"', '<_>" to <x>', { x: '1" to "b 2"' }],
  ['from 10.0.0.7:80 to 10.0.0.9:81', '<_>:8<x>', { x: '0 to 10.0.0.9:81' }],
  ['from 10.0.0.7:80 to 10.0.0.9:81', '<_>.<x>.<_>:<y>', { x: '0', y: '80 to 10.0.0.9:81' }],
  ['id 0a1b-7 a1b x', '<_>a1b<x>', { x: '-7 a1b x' }],
  ['id 0a1-7 a1b x', '<_>a1b<x>', { x: ' x' }],
  ['1 a 2 a 3', '<_> a <x> a <y>', { x: '2', y: '3' }],
  ['1 a 2 a 3', '<_>2<x>', { x: ' a 3' }],
  // Without its values, the line would have the literal.
  ['a 1 - b 2', '<_>  - <y>', {}],
  ['p=1 q=2', '<_>= q=<y>', {}],
  ['p=1 q=2', '<x>= q=<y>', { x: 'p=1 q=2' }],
  ['1 2', ' <x>', {}],
  ['"5" "6"', '<_>""<y>', {}],
  ['v1v2v w', '<_>vv<y>', {}],
  // A capture that ends in the constant text behind it, or with the line.
  ['took 15 ms 7', 'took <x> m<_>', { x: '15' }],
  ['took 15 ms 7', 'took <x> ms<y>', { x: '15', y: ' 7' }],
  ['took 15 ms 7', '<_> ms 7<y>', { y: '' }],
  ['took 15 ms 7', '<_> ms 7<y>7', { y: '' }],
  ['took 15 ms 7', 'took <x> ms 77', { x: '15 ms 7' }],
  ['took 15 ms 77', 'took <x> ms 7', { x: '15' }],
  // Empty values, which a pattern without a capture there may need.
  ['p= q=2 r=3', 'p=<x> q=<y> r=<z>', { x: '', y: '2', z: '3' }],
  ['p= q=2 r=3', 'p= q=<y> r=<z>', { y: '2', z: '3' }],
  ['p=1 q=2 r=3', 'p= q=<y> r=<z>', {}],
  ['p=1 q=2 r=', '<_> r=<z>', { z: '' }],
  ['p=1 q="" r=3', 'p=<_> q=""<z>', { z: ' r=3' }],
  ['p=1 q="s" r=3', 'p=<_> q=""<z>', {}],
  // Bytes that no value of the line has, which a stand-in for a value might.
  ['n=1 v=\0 w=2', '<x>\0<y>', { x: 'n=1 v=', y: ' w=2' }],
  ['n=1 v=\x01 w=2', '<x>\x01<y>', { x: 'n=1 v=', y: ' w=2' }],
  ...['\0', '\x01', '\x7f', '0', '3', '?', '*', '_', '-', '.', 'x', '~', '#', '\t', '\n', '"'].map(
    (literal): Case => ['n=1 v=9 w=2', `<x>${literal}<y>`, { x: 'n=1 v=9 w=2' }],
  ),
  ['n=1 v=9 w=2', 'n=<x> <_>', { x: '1' }],
  ['n=1 v=9 w=2', '<x>  <y>', { x: 'n=1 v=9 w=2' }],
  ['n=1 v=9 w=2', 'n=<_> v=<_> w=<z>', { z: '2' }],
  // The rest of the line, with all values in it.
  [FREE, 'a <x> b <y>', { x: '1', y: '2 c 3' }],
  [FREE, 'a <x> z <y>', { x: '1 b 2 c 3' }],
  [FREE, 'a <x> b <y> z', { x: '1', y: '2 c 3' }],
  [FREE, '<x> c 3 d', { x: FREE }],
  [FREE, '<x> c 3', { x: 'a 1 b 2' }],
  [FREE, '<x> c 4', { x: FREE }],
  ['a 1 b 2 c 31', '<_> b <y> c 3', { y: '2' }],
  [FREE, 'a <x> c <_>', { x: '1 b 2' }],
  [FREE, '<_>b<y>', { y: ' 2 c 3' }],
  [FREE, '<x>', { x: FREE }],
  [FREE, `${FREE}<x>`, { x: '' }],
  [FREE, `${FREE} <x>`, {}],
  // A template has a column twice, or the order of captures differs from that of columns.
  ['a=1 a=2 a=3', 'a=<x> a=<y> a=<z>', { x: '1', y: '2', z: '3' }],
  ['a=1 a=2 a=3', '<_> a=<_> a=<z>', { z: '3' }],
  ['a=1 a=2 a=3', '<_> a=2 a=<z>', { z: '3' }],
  ['b=1 a=2 b=3 a=4', '<_> b=<x> a=<_>', { x: '3' }],
  // Numbers of several forms.
  ['t=-5 u=-0.50 v=007', 't=<t> u=<u> v=<v>', { t: '-5', u: '-0.50', v: '007' }],
  ['t=-5 u=-0.50 v=007', 't=-<t> u=-0.5<u> v=00<v>', { t: '5', u: '0', v: '7' }],
  ['v1.2.3-rc1 of 0x1f', 'v<x>.<y>.<z> of 0x<w>', { x: '1', y: '2', z: '3-rc1', w: '1f' }],
  // Times of the row.
  [
    '{clock} n=1',
    '<d>T<h>:<m>:<s>.<ms>Z n=<n>',
    { d: '2024-10-04', h: '01', m: '00', s: '00', ms: '007', n: '1' },
  ],
  ['{clock} n=1', '<_>Z n=<n>', { n: '1' }],
  ['{clock} n=1', '2024-10-04T01:00:00.007Z <n>', { n: 'n=1' }],
  ['{clock} n=1', '2024-10-04T01:00:00.008Z <n>', {}],
  ['n=1 at {clock} 7', '<_>:00:00.00<x>', { x: '7Z 7' }],
  // Lines that are stored whole.
  [`x ${'1 '.repeat(600)}end 5`, 'x <x> <_>end <y>', { x: '1', y: '5' }],
  [`big ${'y 1 '.repeat(9000)}end 5`, '<_>end <y>', { y: '5' }],
  ['ready', '<x>y', { x: 'read' }],
  // Any bytes.
  [bytes('gr\u00f6\u00dfe 5 \u00fc=7'), bytes('gr\u00f6\u00dfe <x> \u00fc=<y>'), { x: '5', y: '7' }],
  ['v="\xff 1" w=2', 'v="<x>" w=<y>', { x: '\xff 1', y: '2' }],
  ['v="\xff 1" w=2', bytes('v="\ufffd<x>" w=<y>'), {}],
  [`v="${bytes('\ufffd')} 1" w=2`, bytes('v="\ufffd<x>" w=<y>'), { x: ' 1', y: '2' }],
  ['msg="a\nb 1\r" n=1\r', 'msg="<x>" n=<y>', { x: 'a\nb 1\r', y: '1\r' }],
  // Other syntaxes, many literals and long ones.
  [
    '<34>1 web-1 app[77]: up 5',
    '<34>1 <host> <app>[<pid>]: <msg>',
    { host: 'web-1', app: 'app', pid: '77', msg: 'up 5' },
  ],
  ['<34>1 web-1 app: up 5]: x', '<34>1 <host> <app>[<pid>]: <msg>', { host: 'web-1', app: 'app: up 5]: x' }],
  [
    String.raw`{"level":"info","n":5,"msg":"a, \"b\""}`,
    '{"level":"<level>","n":<n>,"msg":"<msg>"}',
    { level: 'info', n: '5', msg: String.raw`a, \"b\"` },
  ],
  [String.raw`{"level":"info","n":5,"msg":"a, \"b\""}`, '<_>,<x>"<_>', { x: '' }],
  [
    WIDE,
    LETTERS.map(letter => `${letter}=<c${letter}>`).join(' '),
    Object.fromEntries(LETTERS.map((letter, i) => [`c${letter}`, `${i}`])),
  ],
  [`1 ${CONSTANT}2 ${CONSTANT}3`, `<x> ${CONSTANT}<y> ${CONSTANT}<z>`, { x: '1', y: '2', z: '3' }],
  [`1 ${CONSTANT}2 ${CONSTANT}3`, `<x> ${CONSTANT}3`, { x: `1 ${CONSTANT}2` }],
];
