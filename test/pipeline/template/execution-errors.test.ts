/** Templates that fail on the sample line: what follows `template: line:`, each one checked against Go. */
import { describe, expect, test } from '@jest/globals';
import { failureOf, render } from './sample-data.ts';

const CASES: ReadonlyArray<readonly [string, string]> = [
  [
    '{{ index . 1 }}',
    '1:3: executing "line" at <index . 1>: error calling index: value has type int; should be string',
  ],
  [
    '{{ index .msg 70 }}',
    '1:3: executing "line" at <index .msg 70>: error calling index: index out of range: 70',
  ],
  [
    '{{ index .msg -1 }}',
    '1:3: executing "line" at <index .msg -1>: error calling index: index out of range: -1',
  ],
  [
    '{{ index .msg "a" }}',
    '1:3: executing "line" at <index .msg "a">: error calling index: cannot index slice/array with type string',
  ],
  [
    '{{ slice .msg 3 1 }}',
    '1:3: executing "line" at <slice .msg 3 1>: error calling slice: invalid slice index: 3 > 1',
  ],
  [
    '{{ slice .msg 1 2 3 }}',
    '1:3: executing "line" at <slice .msg 1 2 3>: error calling slice: cannot 3-index slice a string',
  ],
  [
    '{{ slice .msg 1 99 }}',
    '1:3: executing "line" at <slice .msg 1 99>: error calling slice: index out of range: 99',
  ],
  [
    '{{ slice (fromJson .arr) 1 3 2}}',
    '1:3: executing "line" at <slice (fromJson .arr) 1 3 2>: error calling slice: invalid slice index: 3 > 2',
  ],
  ['{{ slice nil 1 }}', '1:3: executing "line" at <slice nil 1>: error calling slice: slice of untyped nil'],
  [
    '{{ slice 1 1 }}',
    '1:3: executing "line" at <slice 1 1>: error calling slice: can\'t slice item of type int',
  ],
  [
    '{{ slice (fromJson .j) 1 }}',
    '1:3: executing "line" at <slice (fromJson .j) 1>: error calling slice: can\'t slice item of type map[string]interface {}',
  ],
  ['{{ len 3 }}', '1:3: executing "line" at <len 3>: error calling len: len of type int'],
  [
    '{{ len nil }}',
    '1:3: executing "line" at <len nil>: error calling len: reflect: call of reflect.Value.Type on zero Value',
  ],
  [
    '{{ len (fromJson "x") }}',
    '1:3: executing "line" at <len (fromJson "x")>: error calling len: reflect: call of reflect.Value.Type on zero Value',
  ],
  ['{{ index nil 1 }}', '1:3: executing "line" at <index nil 1>: error calling index: index of untyped nil'],
  [
    '{{ index (fromJson "bad") 1 }}',
    '1:3: executing "line" at <index (fromJson "bad") 1>: error calling index: index of untyped nil',
  ],
  [
    '{{ index (fromJson .j) "n" "p" }}',
    '1:3: executing "line" at <index (fromJson .j) "n" "p">: error calling index: index of nil pointer',
  ],
  [
    '{{ index (fromJson .j) 1 }}',
    '1:3: executing "line" at <index (fromJson .j) 1>: error calling index: value has type int; should be string',
  ],
  [
    '{{ index (fromJson .j) nil }}',
    '1:3: executing "line" at <index (fromJson .j) nil>: error calling index: value is nil; should be of type string',
  ],
  [
    '{{ index (fromJson .arr) nil }}',
    '1:3: executing "line" at <index (fromJson .arr) nil>: error calling index: cannot index slice/array with nil',
  ],
  [
    '{{ index (fromJson .arr) 1.5 }}',
    '1:3: executing "line" at <index (fromJson .arr) 1.5>: error calling index: cannot index slice/array with type float64',
  ],
  [
    '{{ index 1 1 }}',
    '1:3: executing "line" at <index 1 1>: error calling index: can\'t index item of type int',
  ],
  ['{{ (fromJson .j).zz.y }}', '1:13: executing "line" at <.j>: nil pointer evaluating interface {}.y'],
  ['{{ (fromJson .j).n.y }}', '1:13: executing "line" at <.j>: nil pointer evaluating interface {}.y'],
  ['{{ (fromJson .j).k.y }}', '1:13: executing "line" at <.j>: can\'t evaluate field y in type interface {}'],
  ['{{ .msg.x }}', '1:7: executing "line" at <.msg.x>: can\'t evaluate field x in type string'],
  ['{{ .msg "a" }}', '1:3: executing "line" at <.msg>: msg is not a method but has arguments'],
  ['{{ "a" | .msg }}', '1:9: executing "line" at <.msg>: msg is not a method but has arguments'],
  ['{{ 1 2 }}', '1:3: executing "line" at <1>: can\'t give argument to non-function 1'],
  ['{{ "a" "b" }}', '1:3: executing "line" at <"a">: can\'t give argument to non-function "a"'],
  ['{{ nil }}', '1:3: executing "line" at <nil>: nil is not a command'],
  ['{{ nil | print }}', '1:3: executing "line" at <nil>: nil is not a command'],
  [
    '{{ 9223372036854775808 }}',
    '1:3: executing "line" at <9223372036854775808>: 9223372036854775808 overflows int',
  ],
  ['{{ $x = 2 }}', '1:8: executing "line" at <2>: undefined variable: $x'],
  ['{{ $x = 2 }}{{ $x }}', '1:8: executing "line" at <2>: undefined variable: $x'],
  ['{{ range .a }}{{ end }}', '1:9: executing "line" at <.a>: range can\'t iterate over x'],
  [
    '{{ range $i, $j := 3 }}{{ $i }},{{ end }}',
    '1:19: executing "line" at <3>: can\'t use 3 to iterate over more than one variable',
  ],
  ['{{ range 1.5 }}{{ end }}', '1:9: executing "line" at <1.5>: range can\'t iterate over 1.5'],
  ['{{ range true }}{{ end }}', '1:9: executing "line" at <true>: range can\'t iterate over true'],
  ['{{ range nil }}a{{end}}', '1:9: executing "line" at <nil>: nil is not a command'],
  ['{{ template "x" . }}', '1:12: executing "line" at <{{template "x" .}}>: template "x" not defined'],
  [
    '{{ template "x" .a }}{{ define "x" }}{{ .y }}{{ end }}',
    '1:40: executing "x" at <.y>: can\'t evaluate field y in type string',
  ],
  [
    '{{ template "x" "y" "z" }}',
    '1:12: executing "line" at <{{template "x" "y" "z"}}>: template "x" not defined',
  ],
  ['{{ (.a).b }}', '1:4: executing "line" at <.a>: can\'t evaluate field b in type string'],
  ['{{ (nil).x }}', '1:4: executing "line" at <nil>: nil is not a command'],
  ['{{ print .a.b }}', '1:11: executing "line" at <.a.b>: can\'t evaluate field b in type string'],
  ['{{ call nil }}', '1:3: executing "line" at <call nil>: error calling call: call of nil'],
  ['{{ call }}', '1:3: executing "line" at <call>: wrong number of args for call: want at least 1 got 0'],
  [
    '{{ eq 1 1.0 }}',
    '1:3: executing "line" at <eq 1 1.0>: error calling eq: incompatible types for comparison: int and float64',
  ],
  ['{{ eq 1 }}', '1:3: executing "line" at <eq 1>: error calling eq: missing argument for comparison'],
  ['{{ eq }}', '1:3: executing "line" at <eq>: wrong number of args for eq: want at least 1 got 0'],
  [
    '{{ eq "a" 1 }}',
    '1:3: executing "line" at <eq "a" 1>: error calling eq: incompatible types for comparison: string and int',
  ],
  [
    '{{ eq (fromJson .arr) (fromJson .arr) }}',
    '1:3: executing "line" at <eq (fromJson .arr) (fromJson .arr)>: error calling eq: non-comparable type [%!s(float64=1) x <nil> %!s(bool=true) %!s(float64=2.5)]: []interface {}',
  ],
  [
    '{{ eq (fromJson .arr) .a }}',
    '1:3: executing "line" at <eq (fromJson .arr) .a>: error calling eq: incompatible types for comparison: []interface {} and string',
  ],
  [
    '{{ eq .a (fromJson .arr) }}',
    '1:3: executing "line" at <eq .a (fromJson .arr)>: error calling eq: incompatible types for comparison: string and []interface {}',
  ],
  [
    '{{ eq (fromJson .arr) 1 }}',
    '1:3: executing "line" at <eq (fromJson .arr) 1>: error calling eq: incompatible types for comparison: []interface {} and int',
  ],
  [
    '{{ eq (fromJson .j) (fromJson .arr) }}',
    '1:3: executing "line" at <eq (fromJson .j) (fromJson .arr)>: error calling eq: non-comparable types map[f:%!s(float64=1.5) k:v n:<nil> o:map[p:[%!s(float64=1) %!s(float64=2) map[q:%!s(bool=true)]]]]: map[string]interface {}, []interface {}: [1 x <nil> true 2.5]',
  ],
  [
    '{{ eq now 1 }}',
    '1:3: executing "line" at <eq now 1>: error calling eq: incompatible types for comparison: time.Time and int',
  ],
  [
    '{{ gt .a 3 }}',
    '1:3: executing "line" at <gt .a 3>: error calling gt: incompatible types for comparison: string and int',
  ],
  [
    '{{ gt 3 .a }}',
    '1:3: executing "line" at <gt 3 .a>: error calling gt: incompatible types for comparison: int and string',
  ],
  [
    '{{ lt true false }}',
    '1:3: executing "line" at <lt true false>: error calling lt: invalid type for comparison',
  ],
  ['{{ lt nil 1 }}', '1:3: executing "line" at <lt nil 1>: error calling lt: invalid type for comparison'],
  ['{{ lt 1 nil }}', '1:3: executing "line" at <lt 1 nil>: error calling lt: invalid type for comparison'],
  [
    '{{ lt (fromJson .arr) 1 }}',
    '1:3: executing "line" at <lt (fromJson .arr) 1>: error calling lt: invalid type for comparison',
  ],
  [
    '{{ lt 1 (fromJson .arr) }}',
    '1:3: executing "line" at <lt 1 (fromJson .arr)>: error calling lt: invalid type for comparison',
  ],
  [
    '{{ lt 1 1.5 }}',
    '1:3: executing "line" at <lt 1 1.5>: error calling lt: incompatible types for comparison: int and float64',
  ],
  ['{{ lt 1 }}', '1:3: executing "line" at <lt>: wrong number of args for lt: want 2 got 1'],
  ['{{ lt 1 2 3 }}', '1:3: executing "line" at <lt>: wrong number of args for lt: want 2 got 3'],
  [
    '{{ and 1 0 }} {{ and 1 2 }} {{ or 0 "x" }} {{ or "" "" }} {{ and }}',
    '1:61: executing "line" at <and>: wrong number of args for and: want at least 1 got 0',
  ],
  ['{{ or }}', '1:3: executing "line" at <or>: wrong number of args for or: want at least 1 got 0'],
  ['{{ not }}', '1:3: executing "line" at <not>: wrong number of args for not: want 1 got 0'],
  ['{{ not 1 2 }}', '1:3: executing "line" at <not>: wrong number of args for not: want 1 got 2'],
  ['{{ and .a (.msg.x) }}', '1:15: executing "line" at <.msg.x>: can\'t evaluate field x in type string'],
  ['{{ printf 1 }}', '1:10: executing "line" at <1>: expected string; found 1'],
  [
    '{{ printf }}',
    '1:3: executing "line" at <printf>: wrong number of args for printf: want at least 1 got 0',
  ],
  ['{{ printf nil }}', '1:10: executing "line" at <nil>: cannot assign nil to string'],
  ['{{ trunc "5" .msg }}', '1:9: executing "line" at <"5">: expected integer; found "5"'],
  ['{{ trunc 5.5 .msg }}', '1:9: executing "line" at <5.5>: expected integer; found 5.5'],
  [
    '{{ trunc (add 1 2) .msg }}',
    '1:16: executing "line" at <2>: wrong type for value; expected int; got int64',
  ],
  [
    '{{ trunc .status .msg }}',
    '1:9: executing "line" at <.status>: wrong type for value; expected int; got string',
  ],
  ['{{ trunc nil .msg }}', '1:9: executing "line" at <nil>: cannot assign nil to int'],
  ['{{ trunc true .msg }}', '1:9: executing "line" at <true>: expected integer; found true'],
  ['{{ trunc 5 }}', '1:3: executing "line" at <trunc>: wrong number of args for trunc: want 2 got 1'],
  ['{{ trunc 5 1 }}', '1:11: executing "line" at <1>: expected string; found 1'],
  ['{{ trunc 5 nil }}', '1:11: executing "line" at <nil>: cannot assign nil to string'],
  ['{{ 5 | trunc }}', '1:7: executing "line" at <trunc>: wrong number of args for trunc: want 2 got 1'],
  ['{{ 5 | trunc 3 }}', '1:13: executing "line" at <3>: wrong type for value; expected string; got int'],
  ['{{ nil | trunc 3 }}', '1:3: executing "line" at <nil>: nil is not a command'],
  ['{{ (fromJson "x") | trunc 3 }}', '1:26: executing "line" at <3>: invalid value; expected string'],
  ['{{ (fromJson .j).n | trunc 3 }}', '1:27: executing "line" at <3>: invalid value; expected string'],
  [
    '{{ trunc 3 (fromJson .j).n }}',
    '1:21: executing "line" at <.j>: wrong type for value; expected string; got interface {}',
  ],
  [
    '{{ trunc 3 (fromJson .j).zz }}',
    '1:21: executing "line" at <.j>: wrong type for value; expected string; got interface {}',
  ],
  [
    '{{ trunc 3 (fromJson .j).f }}',
    '1:21: executing "line" at <.j>: wrong type for value; expected string; got float64',
  ],
  ['{{ trunc 1 2 3 }}', '1:3: executing "line" at <trunc>: wrong number of args for trunc: want 2 got 3'],
  [
    '{{ substr 5 2 .msg }}',
    '1:3: executing "line" at <substr 5 2 .msg>: error calling substr: runtime error: slice bounds out of range [5:2]',
  ],
  [
    '{{ substr 99 -1 .msg }}',
    '1:3: executing "line" at <substr 99 -1 .msg>: error calling substr: runtime error: slice bounds out of range [99:12]',
  ],
  [
    '{{ substr -1 99 .msg }}',
    '1:3: executing "line" at <substr -1 99 .msg>: error calling substr: runtime error: slice bounds out of range [:99] with length 12',
  ],
  [
    '{{ substr -1 -1 .msg }}',
    '1:3: executing "line" at <substr -1 -1 .msg>: error calling substr: runtime error: slice bounds out of range [:-1]',
  ],
  [
    '{{ substr 99 100 .msg }}',
    '1:3: executing "line" at <substr 99 100 .msg>: error calling substr: runtime error: slice bounds out of range [99:12]',
  ],
  [
    '{{ substr 99 2 .msg }}',
    '1:3: executing "line" at <substr 99 2 .msg>: error calling substr: runtime error: slice bounds out of range [99:2]',
  ],
  [
    '{{ repeat -1 .a }}',
    '1:3: executing "line" at <repeat -1 .a>: error calling repeat: strings: negative Repeat count',
  ],
  [
    '{{ indent -1 "a" }}',
    '1:3: executing "line" at <indent -1 "a">: error calling indent: strings: negative Repeat count',
  ],
  [
    '{{ contains .msg }}',
    '1:3: executing "line" at <contains>: wrong number of args for contains: want 2 got 1',
  ],
  [
    '{{ div 1 0 }}',
    '1:3: executing "line" at <div 1 0>: error calling div: runtime error: integer divide by zero',
  ],
  [
    '{{ mod 1 0 }}',
    '1:3: executing "line" at <mod 1 0>: error calling mod: runtime error: integer divide by zero',
  ],
  ['{{ div 1 }}', '1:3: executing "line" at <div>: wrong number of args for div: want 2 got 1'],
  ['{{ sub 1 }}', '1:3: executing "line" at <sub>: wrong number of args for sub: want 2 got 1'],
  ['{{ divf 1 0 }}', '1:3: executing "line" at <divf 1 0>: error calling divf: decimal division by 0'],
  [
    '{{ addf "inf" 1 }}',
    '1:3: executing "line" at <addf "inf" 1>: error calling addf: Cannot create a Decimal from +Inf',
  ],
  [
    '{{ addf "nan" 1 }}',
    '1:3: executing "line" at <addf "nan" 1>: error calling addf: Cannot create a Decimal from NaN',
  ],
  [
    '{{ ceil 1.2 }} {{ floor 1.8 }} {{ ceil -1.2 }} {{ floor "x" }} {{ round 123.5555 3 }} {{ round 1.55 1 0.6 }} {{ round -2.5 0 }} {{ round 2.5 0 }} {{ round "3.7" 0 }} {{ round 1234 -2 }} {{ round 1.5 "0" }}',
    '1:199: executing "line" at <"0">: expected integer; found "0"',
  ],
  [
    '{{ round 1.5 }}',
    '1:3: executing "line" at <round>: wrong number of args for round: want at least 2 got 1',
  ],
  ['{{ round 1.5 0 "x" }}', '1:15: executing "line" at <"x">: expected float; found "x"'],
  ['{{ unixEpoch "x" }}', '1:13: executing "line" at <"x">: can\'t handle "x" for arg of type time.Time'],
  [
    '{{ unixEpoch .a }}',
    '1:13: executing "line" at <.a>: wrong type for value; expected time.Time; got string',
  ],
  ['{{ unixEpoch 1 }}', '1:13: executing "line" at <1>: can\'t handle 1 for arg of type time.Time'],
  ['{{ unixEpoch nil }}', '1:13: executing "line" at <nil>: cannot assign nil to time.Time'],
  [
    '{{ .a | unixEpoch }}',
    '1:8: executing "line" at <unixEpoch>: wrong type for value; expected time.Time; got string',
  ],
  [
    '{{ (__timestamp__).Nope }}',
    '1:4: executing "line" at <__timestamp__>: can\'t evaluate field Nope in type time.Time',
  ],
  [
    '{{ (__timestamp__).Format }}',
    '1:4: executing "line" at <__timestamp__>: wrong number of args for Format: want 1 got 0',
  ],
  ['{{ (__timestamp__).Format 1 }}', '1:26: executing "line" at <1>: expected string; found 1'],
  [
    '{{ (__timestamp__).Format "a" "b" }}',
    '1:4: executing "line" at <__timestamp__>: wrong number of args for Format: want 1 got 2',
  ],
  [
    '{{ urlencode "a b&c=é~-_.!*\'()" }} {{ urldecode "a+b%20c%C3%A9" }} {{ urldecode "%zz" }}',
    '1:71: executing "line" at <urldecode "%zz">: error calling urldecode: invalid URL escape "%zz"',
  ],
  [
    '{{ urldecode "%zz" }}',
    '1:3: executing "line" at <urldecode "%zz">: error calling urldecode: invalid URL escape "%zz"',
  ],
  [
    '{{ urldecode "a%2" }}',
    '1:3: executing "line" at <urldecode "a%2">: error calling urldecode: invalid URL escape "%2"',
  ],
  [
    '{{ urldecode "%" }}',
    '1:3: executing "line" at <urldecode "%">: error calling urldecode: invalid URL escape "%"',
  ],
  [
    '{{ urldecode "%é" }}',
    '1:3: executing "line" at <urldecode "%é">: error calling urldecode: invalid URL escape "%é"',
  ],
  [
    '{{ duration "x" }}',
    '1:3: executing "line" at <duration "x">: error calling duration: time: invalid duration "x"',
  ],
  [
    '{{ duration "1d" }}',
    '1:3: executing "line" at <duration "1d">: error calling duration: time: unknown unit "d" in duration "1d"',
  ],
  [
    '{{ duration .nosuch }}',
    '1:3: executing "line" at <duration .nosuch>: error calling duration: time: invalid duration ""',
  ],
  [
    '{{ regexReplaceAll "(" .msg "" }}',
    '1:3: executing "line" at <regexReplaceAll "(" .msg "">: error calling regexReplaceAll: error parsing regexp: missing closing ): `(`',
  ],
  [
    '{{ count "(" .msg }}',
    '1:3: executing "line" at <count "(" .msg>: error calling count: error parsing regexp: missing closing ): `(`',
  ],
  [
    '{{ __line__ 1 }}',
    '1:3: executing "line" at <__line__>: wrong number of args for __line__: want 0 got 1',
  ],
  [
    '{{ 1 | __line__ }}',
    '1:7: executing "line" at <__line__>: wrong number of args for __line__: want 0 got 1',
  ],
  ['{{ .a.b.c }}', '1:5: executing "line" at <.a.b.c>: can\'t evaluate field b in type string'],
  ['{{ lower }}', '1:3: executing "line" at <lower>: wrong number of args for lower: want 1 got 0'],
  ['{{ lower 1 }}', '1:9: executing "line" at <1>: expected string; found 1'],
  ['{{ lower "a" "b" }}', '1:3: executing "line" at <lower>: wrong number of args for lower: want 1 got 2'],
  ['{{ lower nil }}', '1:9: executing "line" at <nil>: cannot assign nil to string'],
  ['{{ lower (1) }}', '1:10: executing "line" at <1>: wrong type for value; expected string; got int'],
  ['{{ lower true }}', '1:9: executing "line" at <true>: expected string; found true'],
  [
    '{{ lower . }}',
    '1:9: executing "line" at <.>: wrong type for value; expected string; got map[string]string',
  ],
  [
    '{{ lower $ }}',
    '1:9: executing "line" at <$>: wrong type for value; expected string; got map[string]string',
  ],
  [
    '{{ lower (fromJson .j) }}',
    '1:19: executing "line" at <.j>: wrong type for value; expected string; got map[string]interface {}',
  ],
  ['{{ lower (index (fromJson .arr) 2) }}', '1:32: executing "line" at <2>: invalid value; expected string'],
  [
    '{{ lower (index (fromJson .arr) 4) }}',
    '1:32: executing "line" at <4>: wrong type for value; expected string; got float64',
  ],
  [
    '{{ int (div 1 0) }}',
    '1:8: executing "line" at <div 1 0>: error calling div: runtime error: integer divide by zero',
  ],
  [
    '{{ add (div 1 0) 1 }}',
    '1:8: executing "line" at <div 1 0>: error calling div: runtime error: integer divide by zero',
  ],
  ['{{ div 0 | add 1 }}', '1:3: executing "line" at <div>: wrong number of args for div: want 2 got 1'],
  ['{{ .a | lower .b }}', '1:8: executing "line" at <lower>: wrong number of args for lower: want 1 got 2'],
  [
    '{{ if (gt .a 1) }}x{{ end }}',
    '1:7: executing "line" at <gt .a 1>: error calling gt: incompatible types for comparison: string and int',
  ],
  [
    '{{ if lt 1 "a" | not }}x{{ end }}',
    '1:6: executing "line" at <lt 1 "a">: error calling lt: incompatible types for comparison: int and string',
  ],
  [
    '{{ range (div 1 0) }}{{ end }}',
    '1:10: executing "line" at <div 1 0>: error calling div: runtime error: integer divide by zero',
  ],
  ['{{ with lower 1 }}{{ end }}', '1:14: executing "line" at <1>: expected string; found 1'],
  [
    '{{ template "x" (lower 1) }}',
    '1:12: executing "line" at <{{template "x" (lower 1)}}>: template "x" not defined',
  ],
  ['{{ $x := lower 1 }}', '1:15: executing "line" at <1>: expected string; found 1'],
  ['{{ $ . }}', '1:3: executing "line" at <$>: can\'t give argument to non-function $'],
  ['{{ $.msg.x }}', '1:4: executing "line" at <$.msg.x>: can\'t evaluate field x in type string'],
  ['a\nb{{ lower 1 }}', '2:10: executing "line" at <1>: expected string; found 1'],
  ['é\né{{ lower 1 }}', '2:11: executing "line" at <1>: expected string; found 1'],
  [
    '{{ define "x" }}\n{{ lower 1 }}{{ end }}\n{{ template "x" . }}',
    '2:9: executing "x" at <1>: expected string; found 1',
  ],
];

describe('execution errors', () => {
  for (const [text, want] of CASES) {
    test(JSON.stringify(text), () => {
      expect(failureOf(() => render(text))).toBe(want);
    });
  }
});
