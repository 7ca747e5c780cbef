/**
 * Parser actions for selectors, pipelines and label filters: one action per kind of rule in `grammar.ts`.
 */

import { quote } from '../../base/model/quote.ts';
import type {
  CompareOp,
  Extraction,
  LabelFilter,
  LabelFormatItem,
  LineFilterOp,
  LineFilterStage,
  LineOperand,
  LogExpr,
  Matcher,
  MatchOp,
  NamedItem,
  Stage,
} from './ast.ts';
import type { Actions } from './automaton.ts';
import { ParseError } from './errors.ts';
import { checkPatternStage } from './pattern-check.ts';
import { checkMatcherRegex, checkRegexpStage } from './regex-checks.ts';

/** Parts of a log range, in the order of the query. */
export interface RangePart {
  readonly selector?: readonly Matcher[];
  readonly stages?: Stage[];
}

const CONJUNCTIVE = new Set<LineFilterOp>(['!=', '!~', '!>']);

export const LOG_ACTIONS: Actions<unknown> = {
  same: (v, b) => v[b],
  second: (v, b) => v[b + 1],
  list: (v, b) => [v[b]],
  listComma: (v, b) => pushed(v[b] as unknown[], v[b + 2]),
  listNext: (v, b) => pushed(v[b] as unknown[], v[b + 1]),

  selector: (v, b): RangePart => ({ selector: v[b + 1] as Matcher[] }),
  selectorEmpty: (): RangePart => ({ selector: [] }),
  matcher: (v, b) => matcher(v[b] as string, v[b + 1] as MatchOp, v[b + 2] as string),
  log: (v, b): LogExpr => ({ kind: 'log', selector: (v[b] as RangePart).selector!, stages: [] }),
  logPipeline: (v, b): LogExpr => ({
    kind: 'log',
    selector: (v[b] as RangePart).selector!,
    stages: (v[b + 1] as RangePart).stages!,
  }),

  pipeline: (v, b): RangePart => ({ stages: v[b] as Stage[] }),
  pipelineMore: (v, b) => {
    (v[b] as RangePart).stages!.push(...(v[b + 1] as Stage[]));
    return v[b];
  },
  stage: (v, b) => [v[b + 1]],
  decolorize: (): Stage[] => [{ kind: 'decolorize' }],
  labelFilterStage: (v, b): Stage[] => [{ kind: 'labelFilter', filter: v[b + 1] as LabelFilter }],

  // A chain of `or` operands is built from right to left, and remains reversed until its filter consumes it.
  orText: (v, b) => [text(v[b])],
  orIp: (v, b) => [ip(v[b + 2])],
  orTextChain: (v, b) => pushed(v[b + 2] as unknown[], text(v[b])),
  lineFilter: (v, b) => [lineFilter(v[b] as LineFilterOp, text(v[b + 1]))],
  lineFilterIp: (v, b) => [lineFilter(v[b] as LineFilterOp, ip(v[b + 3]))],
  lineFilterOr: (v, b) => withAlternatives(v[b] as LineFilterStage[], v[b + 2] as LineOperand[]),
  lineFilters: (v, b) => v[b],
  lineFiltersMore: (v, b) => {
    (v[b] as Stage[]).push(...(v[b + 1] as Stage[]));
    return v[b];
  },

  json: (): Stage => ({ kind: 'json', extractions: [] }),
  jsonExtractions: (v, b): Stage => ({ kind: 'json', extractions: v[b + 1] as Extraction[] }),
  logfmt: () => logfmt([], []),
  logfmtFlags: (v, b) => logfmt(v[b + 1], []),
  logfmtExtractions: (v, b) => logfmt([], v[b + 1]),
  logfmtBoth: (v, b) => logfmt(v[b + 1], v[b + 2]),
  regexp: (v, b): Stage => {
    const pattern = v[b + 1] as string;
    checkRegexpStage(pattern);
    return { kind: 'regexp', pattern };
  },
  pattern: (v, b): Stage => {
    const pattern = v[b + 1] as string;
    checkPatternStage(pattern);
    return { kind: 'pattern', pattern };
  },
  unpack: (): Stage => ({ kind: 'unpack' }),
  extractionBare: (v, b): Extraction => ({ name: v[b] as string, expression: v[b] as string }),
  extraction: (v, b): Extraction => ({ name: v[b] as string, expression: v[b + 2] as string }),

  lineFormat: (v, b): Stage => ({ kind: 'lineFormat', template: v[b + 1] as string }),
  labelFormat: (v, b): Stage => ({ kind: 'labelFormat', items: v[b + 1] as LabelFormatItem[] }),
  formatRename: (v, b): LabelFormatItem => ({
    kind: 'rename',
    name: v[b] as string,
    source: v[b + 2] as string,
  }),
  formatTemplate: (v, b): LabelFormatItem => ({
    kind: 'template',
    name: v[b] as string,
    template: v[b + 2] as string,
  }),
  drop: (v, b): Stage => ({ kind: 'drop', items: v[b + 1] as NamedItem[] }),
  keep: (v, b): Stage => ({ kind: 'keep', items: v[b + 1] as NamedItem[] }),
  namedName: (v, b): NamedItem => ({ kind: 'name', name: v[b] as string }),
  namedMatcher: (v, b): NamedItem => ({ kind: 'matcher', matcher: v[b] as Matcher }),

  stringFilter: (v, b): LabelFilter => ({ kind: 'string', matcher: v[b] as Matcher }),
  ipFilter: (v, b): LabelFilter => ({
    kind: 'ip',
    name: v[b] as string,
    op: v[b + 1] as '=' | '!=',
    pattern: v[b + 4] as string,
  }),
  durationFilter: (v, b): LabelFilter => ({ kind: 'duration', ...compared(v, b), ns: v[b + 2] as bigint }),
  bytesFilter: (v, b): LabelFilter => ({ kind: 'bytes', ...compared(v, b), bytes: v[b + 2] as number }),
  filterAnd: (v, b): LabelFilter => both('and', v[b], v[b + 2]),
  filterAndNext: (v, b): LabelFilter => both('and', v[b], v[b + 1]),
  filterOr: (v, b): LabelFilter => both('or', v[b], v[b + 2]),
};

function pushed(list: unknown[], item: unknown): unknown[] {
  list.push(item);
  return list;
}

/**
 * Names that a matcher accepts. Identifiers may contain letters of any script and characters without a
 * meaning. The reference writes matchers with such names in a form that it cannot read, and therefore refuses
 * them.
 */
const MATCHED_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

function matcher(name: string, op: MatchOp, value: string): Matcher {
  if (!MATCHED_NAME.test(name)) {
    throw new ParseError(
      `invalid label name ${quote(name)}: use ASCII letters, digits and underscores, and do not begin with a digit`,
    );
  }
  if (op === '=~' || op === '!~') checkMatcherRegex(value);
  return { name, op, value };
}

function text(value: unknown): LineOperand {
  return { kind: 'text', value: value as string };
}

function ip(value: unknown): LineOperand {
  return { kind: 'ip', value: value as string };
}

function lineFilter(op: LineFilterOp, operand: LineOperand): LineFilterStage {
  return { kind: 'lineFilter', op, operand, alternatives: [] };
}

/**
 * Combines a filter with its alternatives: `|= "a" or "b"` is one filter, `!= "a" or "b"` is two. `operands`
 * is in reverse order.
 */
function withAlternatives(filters: LineFilterStage[], operands: LineOperand[]): LineFilterStage[] {
  const first = filters[0];
  const inOrder = operands.toReversed();
  if (CONJUNCTIVE.has(first.op)) {
    for (const operand of inOrder) filters.push(lineFilter(first.op, operand));
  } else {
    (first.alternatives as LineOperand[]).push(...inOrder);
  }
  return filters;
}

function logfmt(flags: unknown, extractions: unknown): Stage {
  const names = flags as string[];
  return {
    kind: 'logfmt',
    strict: names.includes('--strict'),
    keepEmpty: names.includes('--keep-empty'),
    extractions: extractions as Extraction[],
  };
}

/** Returns name and operator of a comparison; `=` and `==` are equal. */
export function compared(v: readonly unknown[], b: number): { name: string; op: CompareOp } {
  const op = v[b + 1] as CompareOp | '=';
  return { name: v[b] as string, op: op === '=' ? '==' : op };
}

function both(kind: 'and' | 'or', left: unknown, right: unknown): LabelFilter {
  return { kind, left: left as LabelFilter, right: right as LabelFilter };
}
