/** Hostile templates end with an error, within bounded memory, depth and work. */
import { describe, expect, test } from '@jest/globals';
import { MAX_OUTPUT_LENGTH } from '../../../shared/execution/pipeline/template/bounds.ts';
import { compileTemplate } from '../../../shared/execution/pipeline/template/template.ts';
import { dataOf, render, TemplateError } from './sample-data.ts';

const DATA = dataOf(
  new Map([
    ['a', 'x'],
    ['arr', `[${'1,'.repeat(20_000)}1]`],
    ['big', 'x'.repeat(200_000)],
    ['deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['nested', '['.repeat(400) + ']'.repeat(400)],
  ]),
);

function nested(open: string, inner: string, close: string, depth: number): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

const TOO_LONG = `text longer than ${MAX_OUTPUT_LENGTH} characters`;
const TOO_MUCH = 'too much work for one line';
const TOO_DEEP = 'exceeded maximum template depth (400)';

const FAILURES: ReadonlyArray<readonly [string, string]> = [
  ['{{ repeat 999999999 .a }}', TOO_LONG],
  ['{{ indent 99999999 .a }}', TOO_LONG],
  ['{{ indent 1000 (replace "x" "\\n" .big) }}', TOO_LONG],
  ['{{ alignLeft 99999999 .a }}', TOO_LONG],
  ['{{ printf "%999999d%999999d" 1 2 }}', TOO_LONG],
  ['{{ printf "%900000d" (fromJson .arr) }}', TOO_LONG],
  ['{{ replace "x" .big .big }}', TOO_LONG],
  ['{{ regexReplaceAll "x" .big .big }}', TOO_LONG],
  [`{{ regexReplaceAll "(x+)" .big "${'$1'.repeat(50)}" }}`, TOO_LONG],
  ['{{ range fromJson .arr }}{{ $.big }}{{ end }}', TOO_LONG],
  ['{{.big}}{{.big}}{{.big}}{{.big}}{{.big}}{{.big}}', TOO_LONG],
  ['{{ $x := .big }}{{ range fromJson .arr }}{{ $x = print $x $x }}{{ end }}', TOO_LONG],
  [`{{ mulf ${'1.7976931348623157e308 '.repeat(3000)} }}`, 'decimal with more than 8000 digits'],
  ['{{ range fromJson .arr }}{{ range fromJson $.arr }}{{ end }}{{ end }}', TOO_MUCH],
  ['{{ range 999999999999 }}{{ end }}', TOO_MUCH],
  ['{{ range 999999999999 }}{{ if count "x" $.big }}{{ end }}{{ end }}', TOO_MUCH],
  ['{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}', TOO_DEEP],
  [
    '{{ define "r" }}{{ range . }}{{ template "r" . }}{{ end }}{{ end }}{{ template "r" (fromJson .nested) }}',
    TOO_DEEP,
  ],
  [
    `{{ define "r" }}${nested('{{if .}}', '{{template "r" .}}', '{{end}}', 150)}{{ end }}{{ template "r" . }}`,
    TOO_DEEP,
  ],
];

const PARSE_FAILURES = [
  nested('{{if .a}}', 'x', '{{end}}', 5000),
  `{{ ${nested('(', '1', ')', 20_000)} }}`,
  `{{if .b}}${'{{else if .b}}'.repeat(5000)}{{end}}`,
];

const ANSWERS: ReadonlyArray<readonly [string, string]> = [
  [nested('{{if .a}}', 'x', '{{end}}', 190), 'x'],
  [`{{ ${nested('(', '1', ')', 190)} }}`, '1'],
  [`{{ ${nested('(print ', '1', ')', 190)} }}`, '1'],
  ['{{ fromJson .deep }}', '<no value>'],
  ['{{ len (printf "%v" (fromJson .nested)) }}', '800'],
  ['{{ len (repeat 1048576 .a) }}', '1048576'],
  ['{{ $t := now }}{{ $t.Format ' + nested('($t.Format ', '"a"', ')', 150) + ' }}', 'a'],
];

describe('bounds', () => {
  for (const [text, want] of FAILURES) {
    test(text.slice(0, 80), () => {
      const template = compileTemplate(text, 'line');
      expect(() => template.render(DATA)).toThrow(TemplateError);
      expect(() => template.render(DATA)).toThrow(want);
    });
  }
  for (const text of PARSE_FAILURES) {
    test(text.slice(0, 80), () => {
      expect(() => compileTemplate(text, 'line')).toThrow('template: line:1: max expression depth exceeded');
    });
  }
  for (const [text, want] of ANSWERS) {
    test(text.slice(0, 80), () => expect(render(text, DATA)).toBe(want));
  }
});
