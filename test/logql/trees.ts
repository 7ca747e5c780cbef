/** Random syntax trees in the form in which the parser makes them: what means the same has one form. */
import fc from 'fast-check';
import type {
  BinaryOp,
  Expr,
  Extraction,
  Grouping,
  LabelFilter,
  LineFilterOp,
  LogExpr,
  LogRange,
  Matcher,
  MetricExpr,
  RangeOp,
  Stage,
  Unwrap,
  VectorMatching,
  VectorOp,
} from '../../shared/language/logql/ast.ts';
import { unquote } from '../../shared/language/logql/string-literal.ts';

const name = fc.constantFrom(
  'a',
  'app',
  '_x1',
  'rate',
  'bytes',
  'ip',
  'Sum',
  '日本',
  '!',
  '~',
  '&',
  "'q'",
  '²',
);
/** Names of matchers, which are ASCII only. */
const matched = fc.constantFrom('a', 'app', '_x1', 'rate', 'bytes', 'ip', 'Sum');
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom(
    '',
    '"',
    '\\',
    '`',
    'a\r\nb',
    '\0',
    '\u200b',
    unquote('"\\xff\\xc3\\xa9\\xc3"')!,
    'x'.repeat(120),
  ),
);
const regex = fc.constantFrom('a', 'a|b', '4..', '.*', 'a`b', '(?i)x', 'a\rb', 'pro+d-.*', '', 'é[a-z]');
const matcher: fc.Arbitrary<Matcher> = fc.oneof(
  fc.record({ name: matched, op: fc.constantFrom('=' as const, '!=' as const), value: text }),
  fc.record({ name: matched, op: fc.constantFrom('=~' as const, '!~' as const), value: regex }),
);
const selector = fc
  .array(matcher, { maxLength: 4 })
  .map(matchers => [...matchers, { name: 'app', op: '=', value: 'x' } satisfies Matcher]);

const int64 = fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n });
const duration = fc.oneof(
  int64,
  fc.integer({ min: -10_000, max: 10_000 }).map(ms => BigInt(ms) * 1_000_000n),
);
const compare = fc.constantFrom(
  '==' as const,
  '!=' as const,
  '>' as const,
  '>=' as const,
  '<' as const,
  '<=' as const,
);
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

const { filter } = fc.letrec<{ filter: LabelFilter }>(tie => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('string' as const), matcher }),
    fc.record({ kind: fc.constant('number' as const), name, op: compare, value: finite }),
    fc.record({ kind: fc.constant('duration' as const), name, op: compare, ns: duration }),
    fc.record({
      kind: fc.constant('bytes' as const),
      name,
      op: compare,
      bytes: fc.oneof(fc.maxSafeNat(), fc.nat(5000), fc.constantFrom(0, 1024, 1536, 2 ** 30, 1e6, 1.5e9)),
    }),
    fc.record({
      kind: fc.constant('ip' as const),
      name,
      op: fc.constantFrom('=' as const, '!=' as const),
      pattern: text,
    }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      left: tie('filter'),
      right: tie('filter'),
    }),
  ),
}));

const operand = fc.record({ kind: fc.constantFrom('text' as const, 'ip' as const), value: text });
const extractions: fc.Arbitrary<Extraction[]> = fc.array(fc.record({ name, expression: text }), {
  maxLength: 3,
});
const named = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('name' as const), name }),
    fc.record({ kind: fc.constant('matcher' as const), matcher }),
  ),
  { minLength: 1, maxLength: 3 },
);
const lineFilter: fc.Arbitrary<Stage> = fc
  .record({
    kind: fc.constant('lineFilter' as const),
    op: fc.constantFrom<LineFilterOp>('|=', '!=', '|~', '!~', '|>', '!>'),
    operand,
    alternatives: fc.array(operand, { maxLength: 3 }),
  })
  .map(stage => (stage.op.startsWith('!') ? { ...stage, alternatives: [] } : stage));
const stage: fc.Arbitrary<Stage> = fc.oneof(
  { arbitrary: lineFilter, weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('labelFilter' as const), filter }), weight: 4 },
  fc.record({ kind: fc.constant('json' as const), extractions }),
  fc.record({
    kind: fc.constant('logfmt' as const),
    strict: fc.boolean(),
    keepEmpty: fc.boolean(),
    extractions,
  }),
  fc.record({ kind: fc.constant('regexp' as const), pattern: fc.constantFrom('(?P<a>x)', '(?<b>`)"') }),
  fc.record({ kind: fc.constant('pattern' as const), pattern: fc.constantFrom('<a>', '"<_> <b>`') }),
  fc.constant<Stage>({ kind: 'unpack' }),
  fc.record({ kind: fc.constant('lineFormat' as const), template: text }),
  fc.record({
    kind: fc.constant('labelFormat' as const),
    items: fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('rename' as const), name, source: name }),
        fc.record({ kind: fc.constant('template' as const), name, template: text }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.constant<Stage>({ kind: 'decolorize' }),
  fc.record({ kind: fc.constant('drop' as const), items: named }),
  fc.record({ kind: fc.constant('keep' as const), items: named }),
);

/** No text can express `keep a` followed by `!= "x"`: that is the matcher `a!="x"`. */
function isReadable(stages: readonly Stage[]): boolean {
  return stages.every((one, i) => {
    const next = stages[i + 1];
    const endsInName = (one.kind === 'drop' || one.kind === 'keep') && one.items.at(-1)!.kind === 'name';
    return !(endsInName && next?.kind === 'lineFilter' && (next.op === '!=' || next.op === '!~'));
  });
}

const logTrees: fc.Arbitrary<LogExpr> = fc.record({
  kind: fc.constant('log' as const),
  selector,
  stages: fc.array(stage, { maxLength: 5 }).filter(isReadable),
});

const unwrap: fc.Arbitrary<Unwrap> = fc.record(
  {
    label: name,
    conversion: fc.constantFrom('bytes' as const, 'duration' as const, 'duration_seconds' as const),
    filters: fc.array(filter, { maxLength: 3 }),
  },
  { requiredKeys: ['label', 'filters'] },
);
const labels = fc.array(name, { maxLength: 3 });
const grouping: fc.Arbitrary<Grouping> = fc.record({ without: fc.boolean(), labels });

function range(unwrapped: boolean): fc.Arbitrary<LogRange> {
  const rangeNs = fc
    .oneof(fc.nat(100_000), fc.maxSafeNat())
    .map(ms => BigInt(ms % 9_000_000_000_000) * 1_000_000n);
  const base = { log: logTrees, rangeNs, offsetNs: fc.oneof(fc.constant(0n), duration) };
  return unwrapped ? fc.record({ ...base, unwrap }) : fc.record(base);
}

function rangeAggregation(
  ops: readonly RangeOp[],
  unwrapped: boolean,
  extra: object,
): fc.Arbitrary<MetricExpr> {
  return fc.record(
    { kind: fc.constant('rangeAggregation'), op: fc.constantFrom(...ops), range: range(unwrapped), ...extra },
    { requiredKeys: ['kind', 'op', 'range', ...('parameter' in extra ? ['parameter'] : [])] as never },
  ) as fc.Arbitrary<MetricExpr>;
}

const quantile = fc
  .double({ min: 0, noNaN: true, noDefaultInfinity: true })
  .filter(value => !Object.is(value, -0));
const leaf: fc.Arbitrary<MetricExpr> = fc.oneof(
  rangeAggregation(
    ['count_over_time', 'bytes_over_time', 'bytes_rate', 'rate', 'absent_over_time'],
    false,
    {},
  ),
  rangeAggregation(['rate', 'absent_over_time', 'sum_over_time', 'rate_counter'], true, {}),
  rangeAggregation(['avg_over_time', 'max_over_time', 'stdvar_over_time', 'last_over_time'], true, {
    grouping,
  }),
  rangeAggregation(['quantile_over_time'], true, { grouping, parameter: quantile }),
  fc.record({ kind: fc.constant('literal' as const), value: fc.double() }),
  fc.record({ kind: fc.constant('vector' as const), value: quantile }),
);

const MATH: readonly BinaryOp[] = ['+', '-', '*', '/', '%', '^', '==', '!=', '>', '>=', '<', '<='];
const SET: readonly BinaryOp[] = ['or', 'and', 'unless'];
const VECTOR: readonly VectorOp[] = ['sum', 'avg', 'count', 'max', 'min', 'stddev', 'stdvar'];

const matching: fc.Arbitrary<VectorMatching> = fc
  .record(
    {
      on: fc.boolean(),
      labels,
      group: fc.constantFrom('left' as const, 'right' as const),
      include: labels,
    },
    { requiredKeys: ['on', 'labels', 'include'] },
  )
  .map(({ on, labels: names, group, include }) =>
    group === undefined
      ? { on: on || names.length === 0, labels: names, include: [] }
      : { on, labels: names, include, group },
  );

const { metric } = fc.letrec<{ metric: MetricExpr }>(tie => {
  const inner = tie('metric');
  const operation = (ops: readonly BinaryOp[]) =>
    fc.record(
      {
        kind: fc.constant('binary' as const),
        op: fc.constantFrom(...ops),
        left: inner,
        right: inner,
        bool: fc.boolean(),
        matching,
      },
      { requiredKeys: ['kind', 'op', 'left', 'right', 'bool'] },
    );
  const isLiteral = (expr: MetricExpr) => expr.kind === 'literal';
  return {
    metric: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      leaf,
      operation(MATH).filter(({ left, right }) => !(isLiteral(left) && isLiteral(right))),
      operation(SET).filter(({ left, right }) => !isLiteral(left) && !isLiteral(right)),
      fc.record(
        {
          kind: fc.constant('vectorAggregation' as const),
          op: fc.constantFrom(...VECTOR),
          expr: inner,
          grouping: grouping.filter(({ without, labels: names }) => without || names.length > 0),
        },
        { requiredKeys: ['kind', 'op', 'expr'] },
      ),
      fc.record({
        kind: fc.constant('vectorAggregation' as const),
        op: fc.constantFrom('topk' as const, 'bottomk' as const, 'approx_topk' as const),
        expr: inner,
        parameter: fc.integer({ min: 1, max: 1_000_000 }),
      }),
      fc.record({
        kind: fc.constant('labelReplace' as const),
        expr: inner,
        destination: text,
        replacement: text,
        source: text,
        regex,
      }),
    ),
  };
});

export const trees: fc.Arbitrary<Expr> = fc.oneof(logTrees, metric);
