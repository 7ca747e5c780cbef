/**
 * Compiles the stages of a query to the form that runs on a page. Stages run in written order. They move only
 * if no result changes:
 *
 * - A line filter moves before stages that do not change the line, because it only drops rows and reads only
 *   the line.
 * - A label filter before any parser is decided per stream or metadata value.
 * - A filter on a label of the stream is decided per stream even after parsers, because parsers never replace
 *   such a label.
 */

import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { LabelFilter, Stage } from '../../language/logql/ast.ts';
import { formatStage } from '../../language/logql/format-log.ts';
import { compileDecolorize } from './decolorize.ts';
import { compileDrop, compileKeep } from './drop-keep.ts';
import { EarlyTests } from './early-tests.ts';
import { compileIp } from './ip.ts';
import { compileJson } from './json.ts';
import { compileJsonExpressions } from './json-expressions.ts';
import { compileLabelFilter, filterReadsError, type LabelTest, namesOfFilter } from './label-filter.ts';
import { compileLabelFormat } from './label-format.ts';
import { compileLineFilter, type LineFilter, lineFilterStage } from './line-filter.ts';
import { compileLineFormat } from './line-format.ts';
import { compileLogfmt } from './logfmt.ts';
import { compileLogfmtExpressions } from './logfmt-expressions.ts';
import { cheapestFirst } from './page-filters.ts';
import { compilePatternParser, type PatternParser, type PatternPlan } from './pattern-parser.ts';
import type { PushdownRows } from './pushdown/pushdown-rows.ts';
import { compileRegexpParser } from './regexp.ts';
import type { Row, RowStage } from './row.ts';
import type { RunScan } from './run-scan.ts';
import { ScannedFields } from './scanned-fields.ts';
import { ScannedPaths } from './scanned-paths.ts';
import { StoredLabelFilter } from './stored-label-filter.ts';
import { compileUnpack } from './unpack.ts';

/** Filter on one label of the stream, decided per run. */
interface RunFilter {
  readonly id: number;
  readonly test: LabelTest;
}

export interface CompiledStages {
  /** Filters on the lines as stored. */
  readonly lineFilters: readonly LineFilter[];
  /** Filters on the labels as stored. */
  readonly labelFilters: readonly StoredLabelFilter[];
  readonly runFilters: readonly RunFilter[];
  /** Stages that run row by row. */
  readonly rowStages: readonly RowStage[];
  /**
   * Stages of `rowStages`, with the filters of `labelFilters` in their original positions. Used for runs in
   * which one of those filters failed to convert.
   */
  readonly rowStagesWithLabelFilters: readonly RowStage[];
  /** Set if `rowStages` are a pattern and filters on single labels. */
  readonly pattern: PatternPlan | undefined;
  /** Finds the values that the first of `rowStages` must extract, run by run. */
  readonly scanned: RunScan | undefined;
  /** Whether some row stage may take long on a row; see `TimeSlice`. */
  readonly isSlow: boolean;
}

interface CompileOptions {
  readonly clock: Clock;
  /** Skips parsers, because nothing that they extract is needed (docs/dev/logql-semantics.md#parsers-that-are-skipped). */
  readonly skipParsers?: boolean;
  /** Field columns that replace one of the parsers. */
  readonly pushdown?: PushdownRows | undefined;
}

/**
 * Stages whose work on a row is not bounded by its length: templates, and regular expressions on lines and
 * labels.
 */
const SLOW_STAGES: ReadonlySet<Stage['kind']> = new Set([
  'lineFormat',
  'labelFormat',
  'regexp',
  'lineFilter',
]);

/** Throws BadRequestError (`parse error : stage '...' : ...`) for an invalid stage. */
export function compileStages(
  stages: readonly Stage[],
  row: Row,
  { clock, skipParsers = false, pushdown }: CompileOptions,
): CompiledStages {
  const { labels } = row;
  const lineFilters: LineFilter[] = [];
  const labelFilters: StoredLabelFilter[] = [];
  const runFilters: RunFilter[] = [];
  const rowStages: RowStage[] = [];
  const withLabelFilters: RowStage[] = [];
  const add = (stage: RowStage) => {
    rowStages.push(stage);
    withLabelFilters.push(stage);
  };
  // Compile the tests of all label filters first, because parsers try those that follow them.
  const tests = stages.map(stage =>
    stage.kind === 'labelFilter' ? namingStage(stage, () => singleTests(stage.filter, row)) : [],
  );

  let pattern: PatternParser | undefined;
  let scanned: RunScan | undefined;
  let lineIsStored = true;
  let labelsAreStored = true;
  let streamLabelsAreKept = true;
  for (const [i, stage] of stages.entries()) {
    namingStage(stage, () => {
      switch (stage.kind) {
        case 'lineFilter': {
          const filter = compileLineFilter(stage);
          if (lineIsStored) lineFilters.push(filter);
          else add(lineFilterStage(filter));
          return;
        }
        case 'labelFilter': {
          const { filter } = stage;
          if (filter.kind === 'ip') compileIp(filter.pattern);
          const test = compileLabelFilter(filter, labels);
          const rowStage: RowStage = current => test(current.labels);
          if (labelsAreStored && !filterReadsError(filter)) {
            const ids = namesOfFilter(filter).map(name => labels.intern(name));
            labelFilters.push(new StoredLabelFilter(test, ids));
            withLabelFilters.push(rowStage);
            return;
          }
          if (streamLabelsAreKept) {
            for (const { id, test: single, canFail } of tests[i]) {
              if (!canFail) runFilters.push({ id, test: single });
            }
          }
          add(rowStage);
          return;
        }
        case 'decolorize':
          lineIsStored = false;
          add(compileDecolorize());
          return;
        case 'lineFormat':
          lineIsStored = false;
          add(compileLineFormat(stage.template, row, clock));
          return;
        case 'labelFormat':
          labelsAreStored = false;
          streamLabelsAreKept = false;
          add(compileLabelFormat(stage.items, row, clock));
          return;
        case 'drop':
          labelsAreStored = false;
          streamLabelsAreKept = false;
          add(compileDrop(stage.items, labels));
          return;
        case 'keep':
          labelsAreStored = false;
          streamLabelsAreKept = false;
          add(compileKeep(stage.items, labels));
          return;
        default: {
          const early = earlyTestsAfter(stages, tests, i);
          if (stage.kind === 'pattern') pattern = compilePatternParser(stage.pattern, labels, early);
          let parser = stage.kind === 'pattern' ? pattern!.stage : compileParser(stage, row, early);
          if (skipParsers) return;
          if (rowStages.length === 0) {
            const fields = scannedFields(stage, row, early);
            parser = fields?.standIn(parser) ?? parser;
            scanned = fields?.scan;
          }
          labelsAreStored = false;
          if (stage.kind === 'unpack') lineIsStored = false;
          add(pushdown?.parserIndex === i ? pushdown.standIn(parser, row) : parser);
        }
      }
    });
  }
  return {
    lineFilters: cheapestFirst(lineFilters),
    labelFilters,
    runFilters,
    rowStages,
    rowStagesWithLabelFilters: withLabelFilters,
    pattern: pattern && patternPlan(stages, tests, pattern, rowStages),
    scanned,
    isSlow: stages.some(({ kind }) => SLOW_STAGES.has(kind)) && rowStages.length > 0,
  };
}

type ParserStage = Extract<Stage, { kind: 'json' | 'logfmt' | 'regexp' | 'pattern' | 'unpack' }>;

export function isParser(stage: Stage): stage is ParserStage {
  switch (stage.kind) {
    case 'json':
    case 'logfmt':
    case 'regexp':
    case 'pattern':
    case 'unpack':
      return true;
    default:
      return false;
  }
}

function compileParser(
  stage: Exclude<ParserStage, { kind: 'pattern' }>,
  { labels }: Row,
  early: EarlyTests,
): RowStage {
  switch (stage.kind) {
    case 'json':
      if (stage.extractions.length === 0) return compileJson(labels, early);
      return compileJsonExpressions(stage.extractions, labels, early);
    case 'logfmt':
      if (stage.extractions.length === 0) return compileLogfmt(labels, stage, early);
      return compileLogfmtExpressions(stage.extractions, labels, stage.strict);
    case 'regexp':
      return compileRegexpParser(stage.pattern, labels, early);
    case 'unpack':
      return compileUnpack(labels);
  }
}

/** Returns scanned fields for a parser whose labels the kernel can find. */
function scannedFields(
  stage: ParserStage,
  { labels }: Row,
  early: EarlyTests,
): ScannedFields | ScannedPaths | undefined {
  if (stage.kind !== 'json' && stage.kind !== 'logfmt') return undefined;
  if (stage.extractions.length > 0)
    return stage.kind === 'json' ? ScannedPaths.for(stage.extractions, labels, early) : undefined;
  const keepsEmpty = stage.kind === 'json' || stage.keepEmpty;
  return ScannedFields.for({ kind: stage.kind, keepsEmpty }, labels, early);
}

/** Returns undefined if the rows need stages other than the pattern and filters on single labels. */
function patternPlan(
  stages: readonly Stage[],
  tests: readonly (readonly SingleTest[])[],
  { stage, captures }: PatternParser,
  rowStages: readonly RowStage[],
): PatternPlan | undefined {
  const patternIndex = stages.findIndex(({ kind }) => kind === 'pattern');
  const behind = stages.slice(patternIndex + 1);
  const isPlain = behind.every(other => other.kind === 'labelFilter' && isConjunction(other.filter));
  if (captures === undefined || !isPlain || rowStages[0] !== stage) return undefined;
  return { stages: rowStages, captures, tests: tests.slice(patternIndex + 1).flat() };
}

/** Returns whether `singleTests` represent the whole filter. */
function isConjunction(filter: LabelFilter): boolean {
  if (filter.kind === 'and') return isConjunction(filter.left) && isConjunction(filter.right);
  return filter.kind !== 'or' && !filterReadsError(filter);
}

/** Conjunct of a label filter that reads one label and no error. */
interface SingleTest {
  readonly id: number;
  readonly test: LabelTest;
  readonly canFail: boolean;
}

function singleTests(filter: LabelFilter, row: Row): SingleTest[] {
  if (filter.kind === 'and') return [...singleTests(filter.left, row), ...singleTests(filter.right, row)];
  if (filter.kind === 'or' || filterReadsError(filter)) return [];
  const test = compileLabelFilter(filter, row.labels);
  return [{ id: row.labels.intern(namesOfFilter(filter)[0]), test, canFail: filter.kind !== 'string' }];
}

/**
 * Returns filters that may drop a row as soon as the parser at `index` has set their label. No stage between
 * the two replaces or removes a parsed label, and the effects of these stages are visible only in rows that
 * pass.
 */
function earlyTestsAfter(
  stages: readonly Stage[],
  tests: readonly (readonly SingleTest[])[],
  index: number,
): EarlyTests {
  const found: [number, LabelTest][] = [];
  for (let i = index + 1; i < stages.length; i++) {
    const stage = stages[i];
    if (stage.kind === 'labelFormat' || stage.kind === 'drop' || stage.kind === 'keep') break;
    if ((stage.kind === 'json' || stage.kind === 'logfmt') && stage.extractions.length > 0) break;
    for (const { id, test } of tests[i]) found.push([id, test]);
  }
  return new EarlyTests(found);
}

function namingStage<T>(stage: Stage, build: () => T): T {
  try {
    return build();
  } catch (error) {
    const message = `parse error : stage '${formatStage(stage)}' : ${messageOf(error)}`;
    throw new BadRequestError(message, { cause: error });
  }
}
