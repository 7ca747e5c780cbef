/**
 * Plans which part of a pipeline can use field columns with the same results as the parser. There are two
 * uses, both for the first parser stage if no earlier stage changes line or labels:
 *
 * - `labels`: if all labels that the parser sets are known, columns can set them and leave the row exactly as
 *   the parser would. This holds if the query restricts extraction (docs/dev/logql-semantics.md#parsers-that-are-skipped), and for
 *   expressions.
 * - `drops`: filters on one label after the parser. A row that one of them rejects is dropped regardless of
 *   all other stages, so it needs no parsing. That holds even if the query shows all labels.
 *
 * This is correct for a row that a column covers. Its line is valid (field-extractor.ts), so no parser sets
 * an error on it. The field occurs once and no other field sets the same name, so the first and the last
 * value are equal.
 *
 * Pitfall: if the stream or structured metadata has a label of the same name, the value becomes
 * `NAME_extracted`. That depends on the row, so code that applies the plan handles it. Queries that name such
 * a label have no plan.
 */

import { sanitizeName } from '../../../base/text/text.ts';
import type { Extraction, LabelFilter, Stage } from '../../../language/logql/ast.ts';
import type { ParserName } from '../../../storage/columns/field-extractor.ts';
import { isReservedName, isSuffixedName } from '../../../storage/columns/reserved-names.ts';
import { parseJsonPath } from '../json-path.ts';
import { filterReadsError, namesOfFilter } from '../label-filter.ts';
import { parseLogfmtExpression } from '../logfmt-expressions.ts';

/** Label that the parser sets, and its field. */
export interface ParsedLabel {
  readonly label: string;
  /** Name of the column. */
  readonly field: string;
  /** Path of a json expression, which the column's path must equal. */
  readonly path: readonly string[] | undefined;
}

interface DropTest {
  readonly source: ParsedLabel;
  /** Filter that reads only the label. */
  readonly filter: LabelFilter;
}

export interface PushdownPlan {
  readonly parser: ParserName;
  /** Index of the parser in the stages. */
  readonly stage: number;
  /**
   * Whether the parser has expressions: a field that the line lacks then sets an empty label, and the parser
   * handles collisions.
   */
  readonly isExpression: boolean;
  /** Whether an empty value sets no label: logfmt without `--keep-empty`. */
  readonly dropsEmpty: boolean;
  /** All labels that the parser sets; undefined if they are unknown. */
  readonly labels: readonly ParsedLabel[] | undefined;
  readonly drops: readonly DropTest[];
  /** Names of the columns that `labels` and `drops` read. */
  readonly fields: ReadonlySet<string>;
  /** Whether another stage reads the line. */
  readonly othersReadLine: boolean;
}

interface PlanOptions {
  /**
   * Names to which the query restricts extraction (`planSamples(...).wanted`); undefined if it sees all
   * labels.
   */
  readonly wanted?: readonly string[];
  /** Filters after an unwrap, which drop rows as those of the stages do. */
  readonly filtersAfter?: readonly LabelFilter[];
}

type FieldStage = Extract<Stage, { kind: 'json' | 'logfmt' }>;

/**
 * Returns the plan for the stages of a query, or undefined if columns are of no use. Never throws: invalid
 * stages have no plan.
 */
export function planPushdown(
  stages: readonly Stage[],
  { wanted, filtersAfter = [] }: PlanOptions,
): PushdownPlan | undefined {
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

function plainSource(label: string): ParsedLabel {
  return { label, field: label, path: undefined };
}

/**
 * Valid lines set no reserved name. A suffixed name may belong to another field, depending on the stream.
 */
function plainSources(wanted: readonly string[]): ParsedLabel[] | undefined {
  const names = [...new Set(wanted)].filter(name => !isReservedName(name));
  return names.some(isSuffixedName) ? undefined : names.map(plainSource);
}

/** Returns the labels that expressions set, or undefined if a column cannot provide them. */
function targetsOf(parser: FieldStage): ParsedLabel[] | undefined {
  const { extractions } = parser;
  const names = new Set(extractions.map(({ name }) => name));
  if (names.size < extractions.length || [...names].some(isSpecial)) return undefined;
  try {
    const targets = extractions.map(extraction =>
      parser.kind === 'json' ? jsonTarget(extraction) : logfmtTarget(extraction),
    );
    return targets.every(target => target !== undefined) ? targets : undefined;
  } catch {
    // Compiling the stage reports the error.
    return undefined;
  }
}

/** Columns do not store array elements, and broken arrays before them confuse the parser. */
function jsonTarget({ name, expression }: Extraction): ParsedLabel | undefined {
  const path: string[] = [];
  for (const part of parseJsonPath(expression)) {
    if (typeof part === 'number') return undefined;
    path.push(part);
  }
  const field = path.reduce((above, part) => sanitizeName(above, part), '');
  return field === '' ? undefined : { label: name, field, path };
}

/** If a key differs from its label, a second key with the label's name also sets the label. */
function logfmtTarget({ name, expression }: Extraction): ParsedLabel | undefined {
  return parseLogfmtExpression(expression) === name ? plainSource(name) : undefined;
}

/** Returns the filters on one label that see the parser's value: no stage between them changes labels. */
export function filtersBehind(
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

/** Returns the conjuncts that read one label each and no error. */
function singleFilters(filter: LabelFilter): LabelFilter[] {
  if (filterReadsError(filter)) {
    return filter.kind === 'and' ? [...singleFilters(filter.left), ...singleFilters(filter.right)] : [];
  }
  if (filter.kind === 'and') return [...singleFilters(filter.left), ...singleFilters(filter.right)];
  return new Set(namesOfFilter(filter)).size === 1 ? [filter] : [];
}
