/**
 * Syntax tree of LogQL: plain frozen data, one discriminated union per family. Durations are nanoseconds as
 * bigint (a year is over 2^53 ns). Kind names are those of the language; see
 * docs/dev/logql-semantics.md#grammar.
 */
export type Expr = LogExpr | MetricExpr;

export type MatchOp = '=' | '!=' | '=~' | '!~';

export interface Matcher {
  readonly name: string;
  readonly op: MatchOp;
  readonly value: string;
}

/** Log query: `{a="b"} | stage | stage`. */
export interface LogExpr {
  readonly kind: 'log';
  readonly selector: readonly Matcher[];
  readonly stages: readonly Stage[];
}

export type LineFilterOp = '|=' | '!=' | '|~' | '!~' | '|>' | '!>';

/**
 * Operand of a line filter: a text (needle, regular expression or pattern, depending on the operator) or
 * `ip("...")`.
 */
export interface LineOperand {
  readonly kind: 'text' | 'ip';
  readonly value: string;
}

/**
 * Line filter as written: an operator, its first operand, and the alternatives after `or`. The parser splits
 * an `or` chain of `!= !~ !>` into separate stages (a conjunction), so `alternatives` is empty for these
 * operators.
 */
export interface LineFilterStage {
  readonly kind: 'lineFilter';
  readonly op: LineFilterOp;
  readonly operand: LineOperand;
  readonly alternatives: readonly LineOperand[];
}

/** Extraction `name="expression"` of json and logfmt; a bare name means `name="name"`. */
export interface Extraction {
  readonly name: string;
  readonly expression: string;
}

interface JsonStage {
  readonly kind: 'json';
  readonly extractions: readonly Extraction[];
}
export interface LogfmtStage {
  readonly kind: 'logfmt';
  readonly strict: boolean;
  readonly keepEmpty: boolean;
  readonly extractions: readonly Extraction[];
}
interface RegexpStage {
  readonly kind: 'regexp';
  readonly pattern: string;
}
interface PatternStage {
  readonly kind: 'pattern';
  readonly pattern: string;
}
interface UnpackStage {
  readonly kind: 'unpack';
}
interface LabelFilterStage {
  readonly kind: 'labelFilter';
  readonly filter: LabelFilter;
}
interface LineFormatStage {
  readonly kind: 'lineFormat';
  readonly template: string;
}
export type LabelFormatItem =
  | { readonly kind: 'rename'; readonly name: string; readonly source: string }
  | { readonly kind: 'template'; readonly name: string; readonly template: string };
interface LabelFormatStage {
  readonly kind: 'labelFormat';
  readonly items: readonly LabelFormatItem[];
}
interface DecolorizeStage {
  readonly kind: 'decolorize';
}
/** Item of drop or keep: a name, or a matcher on a name. */
export type NamedItem =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'matcher'; readonly matcher: Matcher };
interface DropStage {
  readonly kind: 'drop';
  readonly items: readonly NamedItem[];
}
interface KeepStage {
  readonly kind: 'keep';
  readonly items: readonly NamedItem[];
}

export type Stage =
  | LineFilterStage
  | JsonStage
  | LogfmtStage
  | RegexpStage
  | PatternStage
  | UnpackStage
  | LabelFilterStage
  | LineFormatStage
  | LabelFormatStage
  | DecolorizeStage
  | DropStage
  | KeepStage;

/** Comparison operators; the parser writes `=` as `==`. */
export type CompareOp = '==' | '!=' | '>' | '>=' | '<' | '<=';

export type LabelFilter =
  | { readonly kind: 'string'; readonly matcher: Matcher }
  | { readonly kind: 'number'; readonly name: string; readonly op: CompareOp; readonly value: number }
  | { readonly kind: 'duration'; readonly name: string; readonly op: CompareOp; readonly ns: bigint }
  | { readonly kind: 'bytes'; readonly name: string; readonly op: CompareOp; readonly bytes: number }
  | { readonly kind: 'ip'; readonly name: string; readonly op: '=' | '!='; readonly pattern: string }
  | { readonly kind: 'and'; readonly left: LabelFilter; readonly right: LabelFilter }
  | { readonly kind: 'or'; readonly left: LabelFilter; readonly right: LabelFilter };

export type RangeOp =
  | 'count_over_time'
  | 'rate'
  | 'rate_counter'
  | 'bytes_over_time'
  | 'bytes_rate'
  | 'avg_over_time'
  | 'sum_over_time'
  | 'min_over_time'
  | 'max_over_time'
  | 'stdvar_over_time'
  | 'stddev_over_time'
  | 'quantile_over_time'
  | 'first_over_time'
  | 'last_over_time'
  | 'absent_over_time';

export type VectorOp =
  | 'sum'
  | 'avg'
  | 'count'
  | 'max'
  | 'min'
  | 'stddev'
  | 'stdvar'
  | 'bottomk'
  | 'topk'
  | 'sort'
  | 'sort_desc'
  | 'approx_topk';

/** Grouping clause: `without (a, b)`, or `by (a, b)` if `without` is false. Labels are in written order. */
export interface Grouping {
  readonly without: boolean;
  readonly labels: readonly string[];
}

export interface Unwrap {
  readonly label: string;
  readonly conversion?: 'bytes' | 'duration' | 'duration_seconds';
  /** Filters after the unwrap, joined with `and`. */
  readonly filters: readonly LabelFilter[];
}

/** Log range: `{...} | stages | unwrap x [5m] offset 1h`. */
export interface LogRange {
  readonly log: LogExpr;
  readonly unwrap?: Unwrap;
  readonly rangeNs: bigint;
  readonly offsetNs: bigint;
}

export interface RangeAggregationExpr {
  readonly kind: 'rangeAggregation';
  readonly op: RangeOp;
  readonly range: LogRange;
  /** Quantile of quantile_over_time. */
  readonly parameter?: number;
  readonly grouping?: Grouping;
}

export interface VectorAggregationExpr {
  readonly kind: 'vectorAggregation';
  readonly op: VectorOp;
  readonly expr: MetricExpr;
  /** Number k of topk, bottomk and approx_topk: a positive integer. */
  readonly parameter?: number;
  /** Absent if the query has no clause. */
  readonly grouping?: Grouping;
}

export type BinaryOp =
  | 'or'
  | 'and'
  | 'unless'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^'
  | '=='
  | '!='
  | '>'
  | '>='
  | '<'
  | '<=';

export interface VectorMatching {
  /** `on (...)` if true, `ignoring (...)` if false. */
  readonly on: boolean;
  readonly labels: readonly string[];
  readonly group?: 'left' | 'right';
  /** Labels of group_left(...) or group_right(...). */
  readonly include: readonly string[];
}

export interface BinaryExpr {
  readonly kind: 'binary';
  readonly op: BinaryOp;
  readonly left: MetricExpr;
  readonly right: MetricExpr;
  readonly bool: boolean;
  readonly matching?: VectorMatching;
}

export interface LiteralExpr {
  readonly kind: 'literal';
  readonly value: number;
}

export interface VectorExpr {
  readonly kind: 'vector';
  readonly value: number;
}

export interface LabelReplaceExpr {
  readonly kind: 'labelReplace';
  readonly expr: MetricExpr;
  readonly destination: string;
  readonly replacement: string;
  readonly source: string;
  readonly regex: string;
}

export type MetricExpr =
  | RangeAggregationExpr
  | VectorAggregationExpr
  | BinaryExpr
  | LiteralExpr
  | VectorExpr
  | LabelReplaceExpr;
