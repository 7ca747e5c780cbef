/** Fields that a template declares to read: the pipeline extracts no other label. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compileTemplate } from '../../../shared/execution/pipeline/template/template.ts';
import { dataOf } from './sample-data.ts';

const CASES: ReadonlyArray<readonly [text: string, fields: string, all: boolean, field: string | undefined]> =
  [
    ['{{.a}}', 'a', false, 'a'],
    ['{{ .a }}', 'a', false, 'a'],
    ['{{- .a -}}', 'a', false, 'a'],
    ['{{/* c */}}{{.a}}', 'a', false, 'a'],
    ['{{.a}} ', 'a', false, undefined],
    ['{{.a.b}}', 'a', false, undefined],
    ['{{$x := .a}}', 'a', false, undefined],
    ['{{(.a)}}', 'a', false, undefined],
    ['plain', '', false, undefined],
    ['', '', false, undefined],
    ['{{.a | upper}}{{ printf "%s" .b }}', 'a b', false, undefined],
    ['{{$.a}}{{with .b}}{{$.c}}{{.x}}{{else}}{{.d}}{{end}}', 'a b c d', false, undefined],
    ['{{range fromJson .a}}{{.name}}{{else}}{{.b}}{{end}}', 'a b', false, undefined],
    ['{{if eq .a "x"}}{{.b}}{{else if .c}}{{.d}}{{end}}', 'a b c d', false, undefined],
    ['{{ (index (fromJson .a) 0).x }}', 'a', false, undefined],
    ['{{.}}', '', true, undefined],
    ['{{$}}', '', true, undefined],
    ['{{range $k, $v := .}}{{$k}}{{end}}', '', true, undefined],
    ['{{index . "a"}}', '', true, undefined],
    ['{{template "t" .}}{{define "t"}}{{.a}}{{end}}', '', true, undefined],
    ['{{define "t"}}{{.}}{{end}}{{template "t" .a}}', 'a', false, undefined],
    ['{{block "t" $}}{{.a}}{{end}}', '', true, undefined],
    ['{{$x := .}}{{$x.a}}', '', true, undefined],
    ['{{with .}}{{.a}}{{end}}', '', true, undefined],
  ];

describe('fields', () => {
  for (const [text, fields, all, field] of CASES) {
    test(text, () => {
      const template = compileTemplate(text, 'line');
      expect([...template.fields].sort().join(' ')).toBe(fields);
      expect(template.readsAllFields).toBe(all);
      expect(template.field).toBe(field);
    });
  }

  test('a render reads no label that is not named', () => {
    const piece = fc.constantFrom(
      '{{.a}}',
      '{{.b | upper}}',
      '{{if .c}}{{.d}}{{else}}{{.e}}{{end}}',
      '{{with .a}}{{.}}{{$.b}}{{end}}',
      '{{$x := .c}}{{$x}}',
      '{{range fromJson .d}}{{$.e}}{{end}}',
      'text',
      '{{ print .a (printf "%s" .b) | len }}',
      '{{block "q" .a}}{{.}}{{end}}',
    );
    fc.assert(
      fc.property(fc.uniqueArray(piece, { maxLength: 8 }), pieces => {
        const template = compileTemplate(pieces.join(''), 'label');
        const asked = new Set<string>();
        const data = dataOf(new Map([['d', '[1]']]));
        template.render({
          ...data,
          get: name => {
            asked.add(name);
            return data.get(name);
          },
        });
        expect(template.readsAllFields).toBe(false);
        for (const name of asked) expect(template.fields.has(name)).toBe(true);
      }),
    );
  });
});
