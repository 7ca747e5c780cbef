/**
 * Which part of a pipeline promoted columns can answer so that the answer is the parser's. Two uses, both about the first
 * parser stage, with nothing before it that changes line or labels:
 *
 * - `labels`: all that the parser sets can be named, so setting these labels from columns leaves a row exactly as
 *   the parser would. That is so where the query restricts what is extracted (docs/dev/logql-semantics.md#parsers-that-are-skipped) and for
 *   expressions.
 * - `drops`: filters behind the parser on one label. A row that one of them rejects is dropped whatever else the query
 *   does, also where it shows all labels, so it needs no parsing.
 *
 * Why it holds for a row that a column knows: its line is sound (field-extractor.ts), so no parser sets an
 * error on it; the field stands once and no other field gives the same name, so first wins and last wins are the same.
 * What a reader would get wrong: a label of the stream or of structured metadata by the same name sends the value to
 * `NAME_extracted`. That depends on the row, so it is left to who applies the plan; queries that name such a label are
 * not planned at all.
 */

import { sanitizeName } from '../../../base/text/text.ts';
import type { Extraction, LabelFilter, Stage } from '../../../language/logql/ast.ts';
import type { ParserName } from '../../../storage/columns/field-extractor.ts';
import { isReservedName, isSuffixedName } from '../../../storage/columns/reserved-names.ts';
import { parseJsonPath } from '../json-path.ts';
import { filterReadsError, namesOfFilter } from '../label-filter.ts';
import { parseLogfmtExpression } from '../logfmt-expressions.ts';

/** A label that the parser sets, and the field that it takes it from. */
export interface LabelSource {
  readonly label: string;
  /** Name of the column. */
  readonly field: string;
  /** Of json expressions: the column must be of this path. */
  readonly path: readonly string[] | undefined;
}

export interface DropTest {
  readonly source: LabelSource;
  /** Reads the one label. */
  readonly filter: LabelFilter;
}

export interface PromotedPlan {
  readonly parser: ParserName;
  /** Place of the parser in the stages. */
  readonly stage: number;
  /** Expressions: a field that the line lacks gives an empty label, and collisions are the parser's. */
  readonly isExpression: boolean;
  /** An empty value is no label: logfmt without `--keep-empty`. */
  readonly dropsEmpty: boolean;
  /** All labels that the parser sets; undefined where they cannot be named. */
  readonly labels: readonly LabelSource[] | undefined;
  readonly drops: readonly DropTest[];
  /** Names of the columns that `labels` and `drops` read. */
  readonly fields: ReadonlySet<string>;
  /** Some other stage reads the line. */
  readonly othersReadLine: boolean;
}

export interface PlanOptions {
  /** Names that the query restricts extraction to (`planSamples(...).wanted`); undefined where it sees all labels. */
  readonly wanted?: readonly string[];
  /** Filters behind an unwrap: they drop rows as those of the stages do. */
  readonly filtersAfter?: readonly LabelFilter[];
}

type FieldParser = Extract<Stage, { kind: 'json' | 'logfmt' }>;

/** The plan for the stages of a query, undefined where columns are of no use to it. Throws nothing: bad stages have no plan. */
export function planPushdown(
  stages: readonly Stage[],
  { wanted, filtersAfter = [] }: PlanOptions,
): PromotedPlan | undefined {
  const stage = stages.findIndex(({ kind }) => kind !== 'lineFilter' && kind !== 'labelFilter');
  const parser = stages[stage];
  if (parser === undefined || (parser.kind !== 'json' && parser.kind !== 'logfmt')) return undefined;
  const isExpression = parser.extractions.length > 0;
  const targets = isExpression ? targetsOf(parser) : undefined;
  if (isExpression && targets === undefined) return undefined;
  const sourceOf = (label: string) =>
    targets === undefined ? plainSource(label) : targets.find(target => target.label === label);
  const labels = targets ?? (wanted && plainSources(wanted));
  const drops = filtersBehind(stages, stage, filtersAfter).flatMap((filter): DropTest[] => {
    const [label] = namesOfFilter(filter);
    const source = isSpecial(label) ? undefined : sourceOf(label);
    return source === undefined ? [] : [{ source, filter }];
  });
  if (labels === undefined && drops.length === 0) return undefined;
  return {
    parser: parser.kind,
    stage,
    isExpression,
    dropsEmpty: parser.kind === 'logfmt' && !isExpression && !parser.keepEmpty,
    labels,
    drops,
    fields: new Set([...(labels ?? []), ...drops.map(({ source }) => source)].map(({ field }) => field)),
    othersReadLine: stages.some((other, i) => i !== stage && READS_LINE.has(other.kind)),
  };
}

const READS_LINE: ReadonlySet<Stage['kind']> = new Set([
  'lineFilter',
  'lineFormat',
  'labelFormat',
  'decolorize',
  'json',
  'logfmt',
  'regexp',
  'pattern',
  'unpack',
]);

function isSpecial(label: string): boolean {
  return isReservedName(label) || isSuffixedName(label);
}

function plainSource(label: string): LabelSource {
  return { label, field: label, path: undefined };
}

/** Sound lines set no reserved name; a suffixed one may be of another field, depending on the stream. */
function plainSources(wanted: readonly string[]): LabelSource[] | undefined {
  const names = [...new Set(wanted)].filter(name => !isReservedName(name));
  return names.some(isSuffixedName) ? undefined : names.map(plainSource);
}

/** What expressions set; undefined where a column cannot say it. */
function targetsOf(parser: FieldParser): LabelSource[] | undefined {
  const { extractions } = parser;
  const names = new Set(extractions.map(({ name }) => name));
  if (names.size < extractions.length || [...names].some(isSpecial)) return undefined;
  try {
    const targets = extractions.map(extraction =>
      parser.kind === 'json' ? jsonTarget(extraction) : logfmtTarget(extraction),
    );
    return targets.every(target => target !== undefined) ? targets : undefined;
  } catch {
    // Compiling the stage reports it.
    return undefined;
  }
}

/** Places in arrays are not kept in columns, and on the way to them broken arrays confuse the parser. */
function jsonTarget({ name, expression }: Extraction): LabelSource | undefined {
  const path: string[] = [];
  for (const part of parseJsonPath(expression)) {
    if (typeof part === 'number') return undefined;
    path.push(part);
  }
  const field = path.reduce((above, part) => sanitizeName(above, part), '');
  return field === '' ? undefined : { label: name, field, path };
}

/** A key that differs from its label may have a second key, the label's own name, that goes to the label too. */
function logfmtTarget({ name, expression }: Extraction): LabelSource | undefined {
  return parseLogfmtExpression(expression) === name ? plainSource(name) : undefined;
}

/** Filters on one label that see what the parser set: nothing between changes labels. */
function filtersBehind(
  stages: readonly Stage[],
  parser: number,
  filtersAfter: readonly LabelFilter[],
): LabelFilter[] {
  const out: LabelFilter[] = [];
  for (let i = parser + 1; i < stages.length; i++) {
    const stage = stages[i];
    if (stage.kind === 'labelFilter') out.push(...singleFilters(stage.filter));
    else if (stage.kind !== 'lineFilter' && stage.kind !== 'lineFormat' && stage.kind !== 'decolorize')
      return out;
  }
  for (const filter of filtersAfter) out.push(...singleFilters(filter));
  return out;
}

/** Parts that must all hold and that read one label each, and no error. */
function singleFilters(filter: LabelFilter): LabelFilter[] {
  if (filterReadsError(filter)) {
    return filter.kind === 'and' ? [...singleFilters(filter.left), ...singleFilters(filter.right)] : [];
  }
  if (filter.kind === 'and') return [...singleFilters(filter.left), ...singleFilters(filter.right)];
  return new Set(namesOfFilter(filter)).size === 1 ? [filter] : [];
}
