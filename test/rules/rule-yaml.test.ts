/** Rule groups as YAML: written groups are read again, with any names, texts and labels. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { messageOf } from '../../shared/base/model/errors.ts';
import {
  formatGroup,
  formatNamespaces,
  readGroup,
  readNamespaces,
  readRuleFile,
} from '../../shared/server/rules/rule-yaml.ts';
import { validateGroup } from '../../shared/server/rules/validate-group.ts';
import type { Rule, RuleGroup } from '../../shared/storage/catalog/rule-group.ts';

const check = () => undefined;
const parse = (text: string): RuleGroup => validateGroup(readGroup(text), 0, check);

/** Texts that YAML could misread, fold, or lose. */
const odd = fc.constantFrom(
  ...[
    '1.0',
    'true',
    'null',
    '~',
    'no',
    '0x1f',
    '2026-01-05',
    '<<',
    '- a',
    'a: b',
    '#c',
    '!t',
    '&a',
    '*a',
    '{',
    '[',
  ],
  ...[
    'a\nb',
    ' lead',
    'trail ',
    'a\r\nb',
    '\ttab',
    '\u0085',
    '\u2028',
    '%',
    '---',
    '...',
    '__proto__',
    "'",
    '"',
    '\\',
  ],
  ...['é', '😀', '\u0000', '\ufeff', 'x'.repeat(100), '\n', 'a\n\n  b\n'],
);
const text = fc.oneof(odd, fc.string({ unit: 'grapheme', maxLength: 30 }));
const name = text.filter(one => one !== '');
const labels = fc.dictionary(fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,5}$/), text, { maxKeys: 3 });
/** Whole ms: durations of files have no less. */
const duration = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(ms => ms * 1_000_000n);
const expr = fc.constantFrom(
  '1',
  'sum(rate({app="x"} |= "a: b # c" [1m])) > 1',
  'count_over_time({app="x"}\n  | json\n  | a="\\n" [1m])\n',
);
const rule: fc.Arbitrary<Rule> = fc.oneof(
  fc.record({
    kind: fc.constant('recording' as const),
    record: fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,9}$/),
    expr,
    labels,
  }),
  fc.record({
    kind: fc.constant('alerting' as const),
    alert: name,
    expr,
    forNs: duration,
    keepFiringForNs: duration,
    labels,
    annotations: labels,
  }),
);
const group: fc.Arbitrary<RuleGroup> = fc.record({
  name,
  intervalNs: duration,
  limit: fc.nat(),
  queryOffsetNs: duration,
  rules: fc.array(rule, { maxLength: 3 }),
});

describe('written groups parse again', () => {
  test('a group', () => {
    fc.assert(
      fc.property(group, one => {
        expect(parse(formatGroup(one))).toEqual(one);
      }),
      { numRuns: 150 },
    );
  });

  test('namespaces with their groups, and a file', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { maxLength: 3 }),
        fc.array(group, { maxLength: 2 }),
        (names, groups) => {
          const all = new Map(names.map(one => [one, groups]));
          const read = [...readNamespaces(formatNamespaces(all))];
          const valid = read.map(
            ([one, held]) => [one, held.map(each => validateGroup(each, 0, check))] as const,
          );
          expect(new Map(valid)).toEqual(all);
          for (const one of names) {
            const file = readRuleFile(
              JSON.stringify({ namespace: one, groups: groups.map(each => parseYaml(formatGroup(each))) }),
            );
            expect(file.namespace).toBe(one);
            expect(file.groups.map(each => validateGroup(each, 0, check))).toEqual(groups);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test('groups are written in the order and form of the reference', () => {
    const written = `name: g
interval: 1m30s
query_offset: 5s
limit: 2
rules:
    - alert: A
      expr: "1"
      for: 5m
      keep_firing_for: 1h
      labels:
        severity: "1.0"
      annotations:
        text: "{{ $value }}: high"
    - record: a:b
      expr: |
        sum(
          rate({app="x"}[1m]))
`;
    const again = formatGroup(parse(written));
    expect(parse(again)).toEqual(parse(written));
    expect(again.match(/[a-z_]+(?=:(?:\s|$))/gm)).toEqual(written.match(/[a-z_]+(?=:(?:\s|$))/gm));
    expect(again).toContain('\n    - alert: A\n      expr: "1"\n');
  });
});

test.each<[string, string]>([
  ['name: [a]', 'a list for a text'],
  ['name: {a: b}', 'a map for a text'],
  ['- name: a', 'a list for a group'],
  ['just text', 'a text for a group'],
  ['{name: a, rules: {a: b}}', 'a map for rules'],
  ['{name: a, rules: [a]}', 'a text for a rule'],
  ['{name: a, interval: 5 minutes}', 'no duration'],
  ['{name: a, interval: 1h-}', 'no duration'],
  ['{name: a, limit: -1}', 'a negative limit'],
  ['{name: a, limit: 1.5}', 'half a limit'],
  ['{name: a, rules: [{labels: [a]}]}', 'a list for labels'],
  ['{name: a, rules: [{labels: {a: {b: c}}}]}', 'a map for the value of a label'],
  ['{name: a, name: b}', 'a repeated key'],
  ['{name: a', 'broken YAML'],
  ['*a', 'an alias of nothing'],
])('%s is refused: %s', yaml => {
  expect(() => readGroup(yaml)).toThrow(/^unable to decoded rule group$/);
});

test('aliases do not make a text larger than it is', () => {
  const bomb = ['a: &a [x]', ...'bcdefgh'].map((line, i) =>
    i === 0
      ? line
      : `${line}: &${line} [${Array(9)
          .fill(`*${'abcdefgh'[i - 1]}`)
          .join(',')}]`,
  );
  expect(() => readGroup(bomb.join('\n'))).toThrow('unable to decoded rule group');
});

test('an empty value is an absent one', () => {
  expect(readGroup('name: g\ninterval:\nlimit: ~\nrules: null')).toEqual(readGroup('name: g'));
});

test('a text that is too large is not looked at', () => {
  let message = '';
  try {
    readGroup(`name: ${'x'.repeat(256 * 1024)}`);
  } catch (error) {
    message = messageOf(error);
  }
  expect(message).toBe('rule group larger than 262144 bytes; divide it into several');
});
