/** Unit tests of rules in this process: format of the file, passing tests, and reported differences. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { alertDifference, sampleDifference } from '../../bin/cli/rule-tests/differences.ts';
import { runRuleTest } from '../../bin/cli/rule-tests/run-test.ts';
import { readTestFile } from '../../bin/cli/rule-tests/test-file.ts';
import { lintRuleFile } from '../../shared/server/rules/lint-file.ts';
import { checkTemplate } from '../../shared/server/rules/template/check-template.ts';

const COUNT = 'sum by (app) (count_over_time({app="x"} |= "bad" [1m]))';
const RULES = `groups:
  - name: g
    rules:
      - {record: bad:count, expr: '${COUNT}', labels: {team: a}}
      - alert: Bad
        expr: ${COUNT} > 2
        for: 1m
        keep_firing_for: 1m
        labels: {severity: page}
        annotations: {text: '{{ $labels.app }}: {{ $value }} in {{ $externalLabels.cluster }}'}
      - {alert: Late, expr: 'sum(count_over_time({app="x"} | id="7" [1m])) > 0'}
  - name: seldom
    interval: 5m
    rules:
      - {record: seldom, expr: 'sum(count_over_time({app="x"}[5m]))'}
`;

async function failures(body: string, rules = RULES): Promise<string[]> {
  const linted = lintRuleFile(rules, checkTemplate);
  expect(linted.problems).toEqual([]);
  const text = `rule_files: [r]\ntests:\n  - name: t\n    external_labels: {cluster: eu}\n${INPUT}${body}`;
  const [one] = readTestFile('f', text).tests;
  return runRuleTest(one, linted.groups);
}

/** Three bad lines in each of the minutes 1 to 3. */
const INPUT = `    input:
      - stream: {app: x}
        entries:
          - {at: 1m1s, every: 20s x 9, line: bad}
          - {at: 90s, line: other, metadata: {id: "7"}}
`;

describe('expectations at a time', () => {
  const alert = (at: string, ...states: string[]) =>
    `      - {at: ${at}, alert: Bad, expect: [${states.map(state => `{state: ${state}, labels: {app: x, severity: page}}`)}]}\n`;

  test('cover pending, firing, continued and ended alerts', async () => {
    const checks = [
      ['0s'],
      ['1m59s'],
      ['2m', 'pending'],
      ['2m59s', 'pending'],
      ['3m', 'firing'],
      ['4m', 'firing'],
      ['5m', 'firing'],
      ['6m'],
    ].map(([at, ...states]) => alert(at, ...states));
    expect(await failures(`    alerts:\n${checks.join('')}`)).toEqual([]);
  });

  test('cover annotations, values, metadata and samples, and groups with an interval', async () => {
    const body = `    alerts:
      - at: 3m
        alert: Bad
        expect: [{labels: {app: x, severity: page}, annotations: {text: 'x: 3 in eu'}, value: 3}]
      - {at: 2m, alert: Late, expect: [{}]}
      - {at: 3m, alert: Late, expect: []}
    samples:
      - {at: 1m, record: 'bad:count', expect: []}
      - {at: 2m, record: 'bad:count', expect: [{labels: {app: x, team: a}, value: 3}]}
      - {at: 4m, record: seldom, expect: []}
      - {at: 6m, record: seldom, expect: [{value: 10}]}
`;
    expect(await failures(body)).toEqual([]);
  });

  test('use the default interval for groups without one', async () => {
    const body = `    evaluation_interval: 30s\n    samples:
      - {at: 89s, record: 'bad:count', expect: []}
      - {at: 90s, record: 'bad:count', expect: [{labels: {app: x, team: a}, value: 2}]}
`;
    expect(await failures(body)).toEqual([]);
  });

  test('show differences', async () => {
    const body = `    alerts:
      - at: 2m
        alert: Bad
        expect: [{labels: {app: x, severity: warn}, annotations: {text: a}}]
    samples:
      - {at: 2m, record: 'bad:count', expect: [{labels: {app: x}, value: 3}, {value: 1e3}]}
`;
    expect(await failures(body)).toEqual([
      'alert Bad at 2m',
      '  - firing {app="x", severity="warn"} annotations {text="a"}',
      '  + pending {app="x", severity="page"} annotations {text="x: 3 in eu"} value 3',
      'record bad:count at 2m',
      '  - {app="x"} 3',
      '  - {} 1000',
      '  + {app="x", team="a"} 3',
    ]);
  });
});

describe('tests that prove nothing fail', () => {
  test('do so for names that no rule has', async () => {
    const body = `    alerts: [{at: 1m, alert: Bed, expect: []}]\n    samples: [{at: 1m, record: Bad, expect: []}]\n`;
    expect(await failures(body)).toEqual(['no rule file has alert Bed', 'no rule file has record Bad']);
  });

  test('do so for a rule that cannot be evaluated, reported once', async () => {
    const broken =
      'groups: [{name: g, limit: 1, rules: [{record: r, expr: \'sum by (n) (count_over_time({app="x"} | pattern "<n>" [1m]))\'}]}]';
    const found = await failures(`    samples: [{at: 3m, record: r, expect: []}]\n`, broken);
    expect(found[0]).toBe('record r cannot be evaluated at 2m: exceeded limit of 1 with 2 series');
    expect(found.filter(line => line.includes('cannot be evaluated'))).toHaveLength(1);
  });

  test('do so for input that the store refuses', async () => {
    const text = `rule_files: [r]
tests:
  - name: t
    input: [{stream: {a-b: x}, entries: [{line: a}]}]
    samples: [{at: 1m, record: seldom, expect: []}]
`;
    const { groups } = lintRuleFile(RULES, checkTemplate);
    await expect(runRuleTest(readTestFile('f', text).tests[0], groups)).rejects.toThrow(
      /^the store refused the input: couldn't parse labels: 1:3: /,
    );
  });

  test('do so for too many evaluations', async () => {
    expect(await failures(`    samples: [{at: 7d, record: seldom, expect: []}]\n`)).toEqual([
      'group g is evaluated more than 10080 times until 1w',
    ]);
  });
});

describe('format of a test file', () => {
  const problems = (text: string): string => {
    try {
      readTestFile('f', text);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const file = (lines: string) => `rule_files: [r]\ntests:\n  - name: t\n${lines}`;
  const CHECK = '    samples: [{at: 1m, record: r, expect: []}]';

  test.each([
    ['', 'f:1: Invalid input: expected object, received null'],
    ['a: [', /^f:\d: /],
    [
      'rule_files: []\ntests: []',
      'f:1: rule_files: at least one rule file is required\nf:2: tests: at least one test is required',
    ],
    [file(''), 'f:3: tests[0]: the test has no expectations'],
    [file(`    alert: []\n${CHECK}`), 'f:3: tests[0]: Unrecognized key: "alert"'],
    [
      file(`    start: today\n${CHECK}`),
      'f:4: tests[0].start: "today" is not a time such as 2026-01-01T00:00:00Z',
    ],
    [
      file(`    evaluation_interval: 5ms\n${CHECK}`),
      'f:4: tests[0].evaluation_interval: an interval must be at least 1s',
    ],
    [
      file(`    input:\n      - stream: {}\n        entries: []\n${CHECK}`),
      'f:5: tests[0].input[0].stream: a stream needs at least one label\nf:6: tests[0].input[0].entries: at least one entry is required',
    ],
    [
      file(`    input:\n      - stream: {a: b}\n        entries: [{at: 5, line: a, every: 10s}]\n${CHECK}`),
      'f:6: tests[0].input[0].entries[0].at: "5" is not a duration such as 30s, 5m or 1h30m\nf:6: tests[0].input[0].entries[0].every: "10s" is not written like "10s x 30"',
    ],
    [
      file(
        `    input:\n      - stream: {a: b}\n        entries: [{line: a, every: 1s x 99999}, {line: b, every: 1s x 2}]\n${CHECK}`,
      ),
      'f:3: tests[0]: a test has at most 100000 entries',
    ],
    [
      file('    alerts: [{at: 1m, alert: a, expect: [{state: resolved, value: ten}]}]'),
      'f:4: tests[0].alerts[0].expect[0].state: pending or firing\nf:4: tests[0].alerts[0].expect[0].value: "ten" is not a number',
    ],
  ])('%j', (text, want) => {
    if (typeof want === 'string') expect(problems(text)).toBe(want);
    else expect(problems(text)).toMatch(want);
  });

  test('keeps scalars as text', () => {
    const [one] = readTestFile(
      'f',
      file(
        '    input: [{stream: {version: 1.0}, entries: [{line: true}]}]\n    alerts: [{at: 1m, alert: 1, expect: []}]',
      ),
    ).tests;
    expect([one.input[0].stream, one.input[0].entries[0].line, one.alerts[0].alert]).toEqual([
      { version: '1.0' },
      'true',
      '1',
    ]);
  });
});

test.each<[number, number, boolean]>([
  [1, 1, true],
  [1, 1 + 1e-12, true],
  [1, 1 + 1e-6, false],
  [0, -0, true],
  [NaN, NaN, true],
  [NaN, 1, false],
  [Infinity, Infinity, true],
  [Infinity, 5, false],
  [5, -Infinity, false],
])('value %d for %d', (want, got, same) => {
  expect(sampleDifference([{ labels: {}, value: want }], [{ labels: {}, value: got }]).length === 0).toBe(
    same,
  );
});

test('matches each expected alert with one alert', () => {
  const got = { state: 'firing', labels: { alertname: 'A' }, annotations: {}, value: 1 } as const;
  const want = { state: 'firing', labels: {} } as const;
  expect(alertDifference('A', [want], [got])).toEqual([]);
  expect(alertDifference('A', [want, want], [got])).toEqual(['- firing {}']);
  expect(alertDifference('A', [want], [got, got])).toEqual(['+ firing {} value 1']);
  expect(
    alertDifference('A', [{ ...want, annotations: {} }], [{ ...got, annotations: { a: 'b' } }]),
  ).toHaveLength(2);
});

test('contains the example of the documentation, which passes', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/rules.md'), 'utf8');
  const block = (name: string): string => {
    const [, text] = page.split(`\`\`\`yaml\n# rules/${name}\n`);
    return text.split('\n```', 1)[0];
  };
  const { groups, problems } = lintRuleFile(block('shop.yaml'), checkTemplate);
  expect(problems).toEqual([]);
  const { tests } = readTestFile('shop.test.yaml', block('shop.test.yaml'));
  expect(tests).toHaveLength(1);
  expect(await runRuleTest(tests[0], groups)).toEqual([]);
});
