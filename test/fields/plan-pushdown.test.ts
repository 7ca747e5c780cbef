/** Which queries columns can answer, and with which fields. */
import { describe, expect, test } from '@jest/globals';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { type PushdownPlan, planPushdown } from '../../shared/execution/pipeline/pushdown/plan-pushdown.ts';
import { planSamples } from '../../shared/execution/pipeline/sample-plan.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { makePage } from '../pipeline/support.ts';
import { fieldColumnsOfPage, logByColumns, samplesByColumns } from './support.ts';

function planOf(query: string): PushdownPlan | undefined {
  const expr = parseQuery(query);
  if (expr.kind === 'log') return planPushdown((expr as LogExpr).stages, {});
  const [{ node, grouping }] = leavesOf(expr);
  const plan = planSamples(node.range, node.op, node.grouping ?? grouping);
  if (plan.skipParsers) return undefined;
  return planPushdown(plan.stages, { wanted: plan.wanted?.names, filtersAfter: node.range.unwrap?.filters });
}

/** `labels: a b; drops: a; fields: a b`, or `none`. */
function summary(query: string): string {
  const plan = planOf(query);
  if (plan === undefined) return 'none';
  const labels = plan.labels?.map(({ label }) => label).join(' ') ?? 'all';
  const drops = plan.drops.map(({ source }) => source.label).join(' ');
  return `labels: ${labels}; drops: ${drops}; fields: ${[...plan.fields].sort().join(' ')}`;
}

describe('plans', () => {
  const table: [string, string][] = [
    // Log queries show all labels: columns can only drop rows.
    ['{a="b"} | json | status>=500', 'labels: all; drops: status; fields: status'],
    ['{a="b"} | logfmt | level="error" | d>1s', 'labels: all; drops: level d; fields: d level'],
    [
      '{a="b"} |= "x" | json | line_format "{{.x}}" | status=200',
      'labels: all; drops: status; fields: status',
    ],
    ['{a="b"} | json', 'none'],
    ['{a="b"} | json | status>=500 or level="error"', 'none'],
    [
      '{a="b"} | json | (status=500 or status=503) and level="x"',
      'labels: all; drops: status level; fields: level status',
    ],
    // Stages in between may change the label.
    ['{a="b"} | json | label_format status="1" | status="1"', 'none'],
    ['{a="b"} | json | drop status | status=""', 'none'],
    ['{a="b"} | json | a="1" | keep a | b="2"', 'labels: all; drops: a; fields: a'],
    ['{a="b"} | json | logfmt | status="1"', 'none'],
    ['{a="b"} | json | status="1" | logfmt', 'labels: all; drops: status; fields: status'],
    // Another line, or labels that were there before.
    ['{a="b"} | line_format "{{.x}}" | json | status="1"', 'none'],
    ['{a="b"} | decolorize | json | status="1"', 'none'],
    ['{a="b"} | label_format x="1" | json | x="1"', 'none'],
    ['{a="b"} | x="1" | json | x="1"', 'labels: all; drops: x; fields: x'],
    ['{a="b"} | unpack | status="1"', 'none'],
    ['{a="b"} | pattern "<status> <_>" | status="1"', 'none'],
    // Errors and names with a suffix.
    ['{a="b"} | json | __error__=""', 'none'],
    ['{a="b"} | json | x=ip("10.0.0.0/8")', 'none'],
    ['{a="b"} | json | a_extracted="1"', 'none'],
    // Expressions name all that they set.
    [
      '{a="b"} | json status="status", d="n.d" | status>=500',
      'labels: status d; drops: status; fields: n_d status',
    ],
    ['{a="b"} | json x="[\\"a b\\"]"', 'labels: x; drops: ; fields: a_b'],
    ['{a="b"} | json x="tags[0]", s="status" | s=200', 'none'],
    ['{a="b"} | json x="a", x="b"', 'none'],
    ['{a="b"} | logfmt level, d', 'labels: level d; drops: ; fields: d level'],
    ['{a="b"} | logfmt l="level"', 'none'],
    ['{a="b"} | json s="status" | other="1"', 'labels: s; drops: ; fields: status'],
    // Metric queries that restrict the extracted labels.
    [
      'sum by (status) (count_over_time({a="b"} | json | level="error" [1m]))',
      'labels: level status; drops: level; fields: level status',
    ],
    [
      'avg_over_time({a="b"} | logfmt | unwrap duration_seconds(d) [1m]) by (app)',
      'labels: d app; drops: ; fields: app d',
    ],
    ['sum by (__error__) (count_over_time({a="b"} | json [1m]))', 'labels: ; drops: ; fields: '],
    ['sum by (x_extracted) (count_over_time({a="b"} | json [1m]))', 'none'],
    ['sum(count_over_time({a="b"} | json [1m]))', 'none'],
    ['count_over_time({a="b"} | json | s="1" [1m])', 'labels: all; drops: s; fields: s'],
    [
      'avg_over_time({a="b"} | json | unwrap d | s="1" [1m]) by (x)',
      'labels: s d x; drops: s; fields: d s x',
    ],
    ['sum without (s) (count_over_time({a="b"} | json [1m]))', 'none'],
  ];
  test.each(table)('%s', (query, wanted) => {
    const sorted = (text: string) =>
      text.replace(/labels: ([^;]*)/, (_, names: string) => `labels: ${names.split(' ').sort().join(' ')}`);
    expect(sorted(summary(query))).toBe(sorted(wanted));
  });
});

describe('lines that are read', () => {
  const entries = Array.from({ length: 50 }, (_, i) => ({
    line: `{"status":${i % 5 === 0 ? 500 : 200},"d":${i}.5,"n":{"k":"x"}}`,
  }));
  const page = makePage(entries);

  test('reads no lines if columns have all values', () => {
    const query = 'sum by (status) (count_over_time({app="x"} | json | n_k="x" [1m]))';
    expect(samplesByColumns(query, page)).toMatchObject({ replaced: true, parsed: 0, dropped: 0 });
  });
  test('reads only the rows that the filter keeps', () => {
    expect(logByColumns('| json | status>=500', page)).toMatchObject({ replaced: false, dropped: 40 });
    expect(logByColumns('| json s="status" | s>=500', page)).toMatchObject({
      replaced: true,
      parsed: 0,
      dropped: 40,
    });
  });
  test('labels of the stream alone still need to know which lines fail', () => {
    const broken = makePage([...entries, { line: '{"status":' }]);
    const got = samplesByColumns('sum by (app) (count_over_time({app="x"} | json [1m]))', broken);
    expect(got).toMatchObject({ replaced: true, parsed: 1 });
    expect(got.answer.at(-1)!.labels).toMatchObject({ __error__: 'JSONParserErr' });
  });
  test('all lines if a field has no column', () => {
    const query = 'sum by (other) (count_over_time({app="x"} | json [1m]))';
    expect(fieldColumnsOfPage(page).column('json', 'other')).toBeUndefined();
    expect(samplesByColumns(query, page)).toMatchObject({ replaced: true, parsed: 50 });
  });
  test('all rows if the column has another path', () => {
    expect(logByColumns('| json x="[\\"n_k\\"]"', page)).toMatchObject({ replaced: true, parsed: 50 });
    expect(logByColumns('| json x="n.k"', page)).toMatchObject({ replaced: true, parsed: 0 });
  });
});
