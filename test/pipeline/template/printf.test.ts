/** `printf` on the sample line, each one checked against Go. */
import { describe, expect, test } from '@jest/globals';
import { render } from './sample-data.ts';

const CASES: ReadonlyArray<readonly [string, string]> = [
  [
    '{{ printf "%s %v %d %f %e %g %q %x %X %o %b %c %t %T %U %%" "a" "b" 1 1.5 1.5 1.5 "q" "x" 255 8 5 \'a\' true 1 \'b\' }}',
    'a b 1 1.500000 1.500000e+00 1.5 "q" 78 FF 10 101 a true int U+0062 %',
  ],
  [
    '{{ printf "%5d|%-5d|%05d|%+d|% d|%x|%#x|%#o|%#b|%O" 1 2 3 4 5 255 255 8 5 8 }}',
    '    1|2    |00003|+4| 5|ff|0xff|010|0b101|0o10',
  ],
  [
    '{{ printf "%5s|%-5s|%.2s|%05s|%q|%+q|%#q|% x|%#x|%# x" "ab" "ab" "abc" "ab" "é\\"" "é" "ab" "ab" "ab" "ab" }}',
    '   ab|ab   |ab|000ab|"é\\""|"\\u00e9"|`ab`|61 62|0x6162|0x61 0x62',
  ],
  [
    '{{ printf "%6.2f|%-8.3f|%08.3f|%+.1f|%e|%E|%g|%G|%.3g|%.10g|%#g|%.0f" 1.5 1.5 -1.5 1.5 123456.789 1.5 1e21 1e-7 1234.5678 1.5 1.0 2.5 }}',
    '  1.50|1.500   |-001.500|+1.5|1.234568e+05|1.500000E+00|1e+21|1E-07|1.23e+03|1.5|1.00000|2',
  ],
  [
    '{{ printf "%d" "x" }} {{ printf "%s" 1 }} {{ printf "%d" }} {{ printf "%d" 1 2 }} {{ printf "%z" 1 }} {{ printf "%" }} {{ printf "%!" }} {{ printf "%d" nil }} {{ printf "%s" nil }} {{ printf "%v" nil }} {{ printf "%t" 1 }} {{ printf "%d" 1.5 }} {{ printf "%d" true }} {{ printf "%f" 1 }} {{ printf "%c" "a" }} {{ printf "x" nil }}',
    '%!d(string=x) %!s(int=1) %!d(MISSING) 1%!(EXTRA int=2) %!z(int=1) %!(NOVERB) %!!(MISSING) %!d(<nil>) %!s(<nil>) <nil> %!t(int=1) %!d(float64=1.5) %!d(bool=true) %!f(int=1) %!c(string=a) x%!(EXTRA <nil>)',
  ],
  [
    '{{ printf "%*d|%-*d|%.*f|%*d" 5 1 5 1 2 1.234 -5 1 }} {{ printf "%*d" "a" 1 }} {{ printf "%.*d" -1 1 }} {{ printf "%*d" 5 }}',
    '    1|1    |1.23|1     %!(BADWIDTH)1 %!(BADPREC)1 %!d(MISSING)',
  ],
  [
    '{{ printf "%[2]d %[1]d" 1 2 }} {{ printf "%[3]d" 1 2 }} {{ printf "%[2]d %d" 1 2 3 }} {{ printf "%[x]d" 1 }} {{ printf "%[1]*[2]d" 5 1 }} {{ printf "%[1" 1 }} {{ printf "%[1]" 1 }}',
    '2 1 %!d(BADINDEX) 2 3 %!d(BADINDEX)     1 %!(NOVERB) %!(NOVERB)',
  ],
  [
    '{{ printf "%v %v %v %v" (fromJson .j) (fromJson .arr) 1.5 true }}',
    'map[f:1.5 k:v n:<nil> o:map[p:[1 2 map[q:true]]]] [1 x <nil> true 2.5] 1.5 true',
  ],
  [
    '{{ printf "%#v %#v %#v %#v %#v %#v" (fromJson .j) (fromJson .arr) 1.5 true "a" 1.0 }}',
    'map[string]interface {}{"f":1.5, "k":"v", "n":interface {}(nil), "o":map[string]interface {}{"p":[]interface {}{1, 2, map[string]interface {}{"q":true}}}} []interface {}{1, "x", interface {}(nil), true, 2.5} 1.5 true "a" 1',
  ],
  [
    '{{ printf "%d %s" (fromJson .arr) (fromJson .arr) }}',
    '[%!d(float64=1) %!d(string=x) <nil> %!d(bool=true) %!d(float64=2.5)] [%!s(float64=1) x <nil> %!s(bool=true) %!s(float64=2.5)]',
  ],
  ['{{ printf "%5v|%-5v|%5t" true true false }}', ' true|true |false'],
  [
    '{{ printf "%T %T %T %T %T %T %T" 1 1.5 "a" true nil (fromJson .j) (add 1) }}',
    'int float64 string bool <nil> map[string]interface {} int64',
  ],
  [
    '{{ printf "%v" . }}',
    'map[a:x arr:[1,"x",null,true,2.5] b: dur:1m30s j:{"k":"v","n":null,"o":{"p":[1,2,{"q":true}]},"f":1.5} level:info msg:hello wörld n:2.5 neg:-7 path:/api/v1 status:404 u:a%20b]',
  ],
  [
    '{{ printf "%U %#U" 233 233 }} {{ printf "%c|%5c|%q|%q" 233 233 233 10 }} {{ printf "%q" 39 }} {{ printf "%x" -255 }} {{ printf "%X" "hello" }} {{ printf "%x" 1.5 }} {{ printf "%X" 10.25 }} {{ printf "%b" 1.5 }} {{ printf "%.3x" 1.999 }}',
    "U+00E9 U+00E9 'é' é|    é|'é'|'\\n' '\\'' -ff 68656C6C6F 0x1.8p+00 0X1.48P+03 6755399441055744p-52 0x1.ffcp+00",
  ],
  ['{{ printf "%6.3d|%-6.3d|%06.3d|%.0d|%5.0d" 5 5 5 0 0 }}', '   005|005   |   005||     '],
  [
    '{{ printf "%+q %x" "日本" "日本" }} {{ printf "%.1q" "日本" }} {{ printf "%.2x" "abc" }} {{ printf "%3c|" \'x\' }}',
    '"\\u65e5\\u672c" e697a5e69cac "日" 6162   x|',
  ],
  ['{{ printf "%s|%10.3s|%-10s|" "é" "日本語文字" "é" }}', 'é|       日本語|é         |'],
  ['{{ printf "% 5d|%+5d|%x|%X" 7 7 3735928559 3735928559 }}', '    7|   +7|deadbeef|DEADBEEF'],
  [
    '{{ printf "%t %v" true false }} {{ printf "%08.3f" 3.14159 }} {{ printf "%+.2e" 12345.678 }} {{ printf "%g" 100000.0 }} {{ printf "%g" 1000000.0 }} {{ printf "%g" 1e20 }} {{ printf "%g" 1e21 }} {{ printf "%G" 1e-10 }} {{ printf "%#.3g" 1.0 }} {{ printf "%#.0f" 1.0 }} {{ printf "%#e" 1.0 }}',
    'true false 0003.142 +1.23e+04 100000 1e+06 1e+20 1e+21 1E-10 1.00 1. 1.000000e+00',
  ],
  [
    '{{ printf "%7.2f%%" 45.678 }} {{ printf "%v" 0.1 }} {{ printf "%v" 1e6 }} {{ printf "%v" -0.0 }} {{ printf "%5.1f|%-7.1f|" 2.25 2.35 }} {{ printf "%.1f %.1f %.1f" 0.25 0.35 0.45 }}',
    '  45.68% 0.1 1e+06 -0   2.2|2.4    | 0.2 0.3 0.5',
  ],
  ['{{ printf .nosuch }}', ''],
  ['{{ 1 | printf "%d-%s" }}', '1-%!s(MISSING)'],
  ['{{ "x" | printf "%s-%s" "y" }}', 'y-x'],
  ['{{ .msg | upper | printf "%s!" }}', 'HELLO WÖRLD!'],
  ['{{ . | len }} {{ . | printf "%T" }}', '12 map[string]string'],
  ['{{ .msg | printf "%s %d" "a" 3 }}', 'a 3%!(EXTRA string=hello wörld)'],
  ['{{ printf "%v %s" (fromJson "{\\"a\\":null}") (fromJson "[null]") }}', 'map[a:<nil>] [<nil>]'],
  [
    '{{ printf "%x" (fromJson "[\\"a\\",1]") }} {{ printf "%q" (fromJson "{\\"a\\":\\"b\\"}") }} {{ printf "%6.1f" (fromJson "[1,2.25]") }}',
    '[61 0x1p+00] map["a":"b"] [   1.0    2.2]',
  ],
  [
    '{{ printf "%s" . }}',
    'map[a:x arr:[1,"x",null,true,2.5] b: dur:1m30s j:{"k":"v","n":null,"o":{"p":[1,2,{"q":true}]},"f":1.5} level:info msg:hello wörld n:2.5 neg:-7 path:/api/v1 status:404 u:a%20b]',
  ],
  [
    '{{ printf "%d" . }}',
    'map[%!d(string=a):%!d(string=x) %!d(string=arr):%!d(string=[1,"x",null,true,2.5]) %!d(string=b):%!d(string=) %!d(string=dur):%!d(string=1m30s) %!d(string=j):%!d(string={"k":"v","n":null,"o":{"p":[1,2,{"q":true}]},"f":1.5}) %!d(string=level):%!d(string=info) %!d(string=msg):%!d(string=hello wörld) %!d(string=n):%!d(string=2.5) %!d(string=neg):%!d(string=-7) %!d(string=path):%!d(string=/api/v1) %!d(string=status):%!d(string=404) %!d(string=u):%!d(string=a%20b)]',
  ],
  ['{{ printf "%+v|%#v|%+d|%+v|%#x|%#v" 1 2 3 1.5 "a" "b" }}', '1|2|+3|1.5|0x61|"b"'],
  ['{{ printf "%#d %+d %#q" "x" "y" "z`" }}', '%!d(string=x) %!d(string=y) "z`"'],
  [
    '{{ printf "%+v %#v" .j (fromJson .j) }}',
    '{"k":"v","n":null,"o":{"p":[1,2,{"q":true}]},"f":1.5} map[string]interface {}{"f":1.5, "k":"v", "n":interface {}(nil), "o":map[string]interface {}{"p":[]interface {}{1, 2, map[string]interface {}{"q":true}}}}',
  ],
  ['{{ printf "%5v|%05v|%-5v|" 1 2 3 }}', '    1|00002|3    |'],
  ['{{ printf "%#v %#v" 1e6 1e21 }}', '1e+06 1e+21'],
  ['{{ printf "%#v" 123456789.0 }}', '1.23456789e+08'],
  ['{{ printf "%#v" nil }}', '<nil>'],
  ['{{ printf "%#v" (fromJson "[null]") }}', '[]interface {}{interface {}(nil)}'],
  ['{{ printf "%6.2v|%.3v" 3.14159 "abcdef" }}', '   3.1|abc'],
  ['{{ printf "%x %X %x" 3.5 -1.25 0.0 }}', '0x1.cp+01 -0X1.4P+00 0x0p+00'],
  ['{{ printf "%e %g %f" 0.0 0.0 0.0 }}', '0.000000e+00 0 0.000000'],
  ['{{ printf "%10.3e|%-12g|%+g" 12345.6789 0.00001234 100.0 }}', ' 1.235e+04|1.234e-05   |+100'],
  ['{{ printf "%q %q" `a"b` "a\\tb" }}', '"a\\"b" "a\\tb"'],
  ['{{ printf "% d|% d|%+x|% x" 5 -5 255 255 }}', ' 5|-5|+ff| ff'],
  ['{{ printf "%08b|%-8b|%o|%#o" 5 5 64 0 }}', '00000101|101     |100|0'],
  ['{{ printf "%c%c%c" 65 0x1F600 -1 }}', 'A😀�'],
  ['{{ printf "%U|%#U|%.6U" 0x1F600 0x1F600 65 }}', "U+1F600|U+1F600 '😀'|U+000041"],
  ['{{ printf "%s" (duration "1s") }}', '%!s(float64=1)'],
  ['{{ printf "%-10s|%10s|%010s" "é" "é" "é" }}', 'é         |         é|000000000é'],
  ['{{ printf "%v" (fromJson "[1.0, 1e6, 123456.5, 0.00001]") }}', '[1 1e+06 123456.5 1e-05]'],
  ['{{ printf "%5d" (fromJson "[1]") }}', '[%!d(float64=    1)]'],
  ['{{ printf "%5.1f" (fromJson "[1, 2.55]") }}', '[  1.0   2.5]'],
  ['{{ printf "%d%%" 50 }}', '50%'],
  ['{{ printf "%[2]*[1]d|" 5 6 }}', '     5|'],
  ['{{ printf "%.[2]*[1]f|" 5.5 1 }}', '5.5|'],
  ['{{ printf "%[1]d %d" 1 }}', '1 %!d(MISSING)'],
  ['{{ printf "%[5]d" 1 }}', '%!d(BADINDEX)'],
  ['{{ printf "%[-1]d" 1 }}', '%!d(BADINDEX)'],
  ['{{ printf "%[]d" 1 }}', '%!d(BADINDEX)'],
  ['{{ printf "%[2]" 1 2 }}', '%!(NOVERB)'],
  ['{{ printf "%3[1]d" 1 }}', '  1'],
  ['{{ printf "%.3[1]d" 1 }}', '001'],
  ['{{ printf "%-+5d|%+-5d|%0-5d|" 1 2 3 }}', '+1   |+2   |3    |'],
  ['{{ printf "%.f|%.d|%5.s|" 1.5 1 "abc" }}', '2|1|     |'],
  ['{{ printf "%é" 1 }}', '%!é(int=1)'],
  ['{{ printf "%w %p %a" 1 2 3 }}', '%!w(int=1) %!p(int=2) %!a(int=3)'],
  ['{{ printf "%t" "x" }} {{ printf "%v%v" true }}', '%!t(string=x) true%!v(MISSING)'],
];

describe('printf', () => {
  for (const [text, want] of CASES) {
    test(JSON.stringify(text), () => {
      expect(render(text)).toBe(want);
    });
  }
});
