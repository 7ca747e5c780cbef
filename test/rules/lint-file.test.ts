/** Problems of rule files with their lines. */
import { describe, expect, test } from '@jest/globals';
import { lintRuleFile } from '../../shared/server/rules/lint-file.ts';
import { checkTemplate } from '../../shared/server/rules/template/check-template.ts';

function problems(text: string): string[] {
  const { problems: found, groups } = lintRuleFile(text, checkTemplate);
  if (found.length > 0) expect(groups).toEqual([]);
  return found.map(({ line, message }) => `${line}: ${message}`);
}

/** A group `g` whose rules begin on line 4. */
function withRules(...lines: string[]): string {
  return ['groups:', '  - name: g', '    rules:', ...lines.map(line => `      ${line}`)].join('\n');
}

test('a file without problems has its groups', () => {
  const text = `namespace: shop
${withRules('- alert: A', '  expr: vector(1)', '- {record: a:b, expr: 1 + 1, labels: {a: 1.0}}')}`;
  const linted = lintRuleFile(text, checkTemplate);
  expect(linted).toEqual({
    namespace: 'shop',
    problems: [],
    groups: [
      {
        name: 'g',
        intervalNs: 0n,
        queryOffsetNs: 0n,
        limit: 0,
        rules: [
          {
            kind: 'alerting',
            alert: 'A',
            expr: 'vector(1)',
            forNs: 0n,
            keepFiringForNs: 0n,
            labels: {},
            annotations: {},
          },
          { kind: 'recording', record: 'a:b', expr: '1 + 1', labels: { a: '1.0' } },
        ],
      },
    ],
  });
});

describe('content', () => {
  test.each<[string, string[], string[]]>([
    ['both kinds', ['- {record: a, alert: b, expr: 1}'], ["4: only one of 'record' and 'alert' must be set"]],
    ['neither', ['- expr: 1'], ["4: one of 'record' or 'alert' must be set"]],
    ['no expression', ['- record: a'], ["4: field 'expr' must be set in rule"]],
    [
      'several rules, in the order of lines',
      ['- record: a b', '  expr: 1', '- record: ok', '  expr: 1', '- alert: x', '  expr: "{"'],
      [
        '4: invalid recording rule name: a b',
        "8: could not parse expression for alert 'x' in group 'g': parse error at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }",
      ],
    ],
    [
      'a log query',
      ['- alert: x', '  for: 5m', '  expr: \'{app="x"}\''],
      ['6: the expression is a log query; rules need a metric query'],
    ],
    ['label name', ['- {record: a, expr: 1, labels: {a-b: c}}'], ['4: invalid label name: a-b']],
    [
      'for of a recording rule',
      ['- {record: a, expr: 1, for: 1m}'],
      ["4: invalid field 'for' in recording rule"],
    ],
  ])('%s', (_, lines, want) => {
    expect(problems(withRules(...lines))).toEqual(want);
  });

  test('reports a mistake in a template', () => {
    const lines = ['- alert: x', '  expr: 1', '  annotations:', "    text: '{{ $value | humanise }}'"];
    expect(problems(withRules(...lines))).toEqual([
      expect.stringMatching(/^4: annotation "text": .*function "humanise" not defined$/),
    ]);
  });

  test.each<[string, string[]]>([
    ['', ['1: no groups found; write them under "groups:"']],
    ['groups: []', ['1: no groups found; write them under "groups:"']],
    ['groups:\n- rules: []', ['2: group 0: Groupname must not be empty']],
    ['groups:\n- name: a\n- name: b\n- name: a', ["4: duplicate group 'a'"]],
  ])('%j', (text, want) => {
    expect(problems(text)).toEqual(want);
  });
});

describe('form', () => {
  const DURATION = 'a duration such as 30s, 5m or 1h30m';
  test.each<[string, string[]]>([
    ['groups:\n  - name: "a', ['2: Missing closing "quote']],
    ['groups:\n  - name: a\n    name: b', ['3: duplicate key name']],
    ['groups: a', ["1: field 'groups' must be a list of groups"]],
    ['group:\n- name: a', ["2: unknown field 'group' of a file of rules"]],
    ['- name: a', ['1: a file of rules must be a map with the fields namespace, groups']],
    ['groups:\n- a', ['2: a group must be a map with the fields name, interval, query_offset, limit, rules']],
    ['groups:\n- name: a\n  rules: b', ["3: field 'rules' must be a list of rules"]],
    ['groups:\n- name: [a]', ["2: field 'name' must be a string"]],
    ['groups:\n- name: a\n  limit: many', ["3: field 'limit' must be a whole number"]],
    [
      'groups:\n- name: a\n  interval: 1 m\n  rules:\n  - alert: b\n    fro: 1m\n    for: 5 minutes\n    labels: x',
      [
        `3: field 'interval' must be ${DURATION}`,
        "6: unknown field 'fro' of a rule",
        `7: field 'for' must be ${DURATION}`,
        "8: field 'labels' must be a map of strings",
      ],
    ],
    [
      'groups:\n- name: a\n  rules:\n  -',
      [
        '4: a rule must be a map with the fields record, alert, expr, for, keep_firing_for, labels, annotations',
      ],
    ],
    ['a: &a [x]\nb: *c', ['1: Unresolved alias (the anchor must be set before the alias): c']],
    [
      `groups:\n- name: ${'x'.repeat(300_000)}`,
      ['1: rule group larger than 262144 bytes; divide it into several'],
    ],
  ])('%j', (text, want) => {
    expect(problems(text).map(line => line.replace(/ at line.*/, ''))).toEqual(want);
  });

  test('a problem behind an alias has the line of its use', () => {
    expect(
      problems('groups:\n- name: a\n  rules: &r\n  - {alert: x, expr: ""}\n- name: b\n  rules: *r'),
    ).toEqual(["4: field 'expr' must be set in rule", "6: field 'expr' must be set in rule"]);
  });
});
