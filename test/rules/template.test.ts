/** Texts of alerts: the functions of alert templates, and what a text that fails becomes. */
import { expect, test } from '@jest/globals';
import { checkTemplate } from '../../shared/server/rules/template/check-template.ts';
import { MAX_TEXT_LENGTH, templateRunner } from '../../shared/server/rules/template/run-template.ts';

const runner = templateRunner({
  externalLabels: { cluster: 'c1' },
  externalUrl: 'http://logs.example/base/',
});
const render = (text: string, value = 0) => runner.run(text, { labels: { app: 'shop', zone: 'b' }, value });

test.each([
  ['no template', 'no template'],
  ['{{ $labels.app | toUpper }} in {{ .Labels.zone }}', 'SHOP in b'],
  ['{{ $labels.missing }}|', '|'],
  ['{{ $externalLabels.cluster }} {{ $externalURL }}', 'c1 http://logs.example/base/'],
  ['{{ externalURL }} {{ pathPrefix }}', 'http://logs.example/base/ /base'],
  ['{{ range $name, $text := $labels }}{{ $name }}={{ $text }};{{ end }}', 'app=shop;zone=b;'],
  ['{{ with $labels.app }}{{ . }}{{ else }}none{{ end }}', 'shop'],
  ['{{ if match "^sh" $labels.app }}yes{{ end }}', 'yes'],
  ['{{ if match "^x" $labels.app }}yes{{ end }}', ''],
  ['{{ reReplaceAll "(o+)" "<$1>" $labels.app }}', 'sh<o>p'],
  ['{{ title "one two" }} {{ toLower "ABC" }}', 'One Two abc'],
  ['{{ printf "%05.1f|%s|%d" 3.14159 "x" 7 }}', '003.1|x|7'],
  ['{{ define "t" }}{{ .arg0 }}-{{ .arg1 }}{{ end }}{{ template "t" (args 1 "b") }}', '1-b'],
  ['{{ stripPort "a.b.c:80" }} {{ stripPort "[::1]:80" }}', 'a.b.c ::1'],
  ['{{ stripDomain "a.b.c:80" }} {{ stripDomain "10.0.0.1:80" }}', 'a:80 10.0.0.1:80'],
  ['{{ parseDuration "1h30m" }}', '5400'],
  ['{{ humanizeTimestamp 1700000000.5 }}', '2023-11-14 22:13:20.5 +0000 UTC'],
  ['{{ (toTime 1700000000).Year }}', '2023'],
])('%s', (text, wanted) => {
  expect(checkTemplate(text)).toBeUndefined();
  expect(render(text)).toBe(wanted);
});

test.each([
  [
    'humanize',
    [
      [0, '0'],
      [1, '1'],
      [1234567, '1.235M'],
      [-1500, '-1.5k'],
      [0.001234, '1.234m'],
      [NaN, 'NaN'],
      [Infinity, '+Inf'],
    ],
  ],
  [
    'humanize1024',
    [
      [1, '1'],
      [1024, '1ki'],
      [3_221_225_472, '3Gi'],
      [0.5, '0.5'],
    ],
  ],
  [
    'humanizeDuration',
    [
      [0, '0s'],
      [0.12, '120ms'],
      [1, '1s'],
      [59.5, '59.5s'],
      [61, '1m 1s'],
      [3725, '1h 2m 5s'],
      [-90_061, '-1d 1h 1m 1s'],
    ],
  ],
  [
    'humanizePercentage',
    [
      [0.1234, '12.34%'],
      [1, '100%'],
    ],
  ],
] as const)('%s of the value', (name, cases) => {
  for (const [value, wanted] of cases) expect(render(`{{ $value | ${name} }}`, value)).toBe(wanted);
});

test('reports an invalid template', () => {
  expect(checkTemplate('{{ $labels.app }')).toMatch(/^template: template:1: /);
  expect(checkTemplate('{{ nope }}')).toBe('template: template:1: function "nope" not defined');
  expect(checkTemplate('{{ $other }}')).toContain('undefined variable "$other"');
});

test('a text queries and fetches nothing', () => {
  expect(checkTemplate('{{ query "up" }}')).toContain('function "query" not defined');
  expect(checkTemplate('{{ env "HOME" }}')).toContain('function "env" not defined');
});

test.each([
  ['{{ humanize "abc" }}', 'invalid syntax'],
  ['{{ index $labels 3 }}', 'value has type int; should be string'],
  ['{{ humanizeTimestamp 1e30 }}', 'cannot be represented'],
  ['{{ range $i := 100000000 }}x{{ end }}', 'too much work'],
  [`{{ range $i := ${MAX_TEXT_LENGTH + 1} }}x{{ end }}`, 'text longer than'],
])('%s: the text says what is wrong', (text, reason) => {
  expect(render(text)).toMatch(/^<error expanding template: /);
  expect(render(text)).toContain(reason);
});

test('the prototype of objects is out of reach', () => {
  expect(render('{{ $labels.constructor }}|{{ $labels.__proto__ }}')).toBe('|');
});
