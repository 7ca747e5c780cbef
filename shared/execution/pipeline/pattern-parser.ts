/**
 * `| pattern "<ip> - <user> <_>"` (docs/dev/logql-semantics.md#pattern). A leading literal must be at the start of the line.
 * Each capture extends to the first occurrence of the next literal. If there is none, it takes the rest of
 * the line, and later captures stay unset. The stage never fails. Names are used unchanged.
 */
import { LineMarks, nextMark } from '../../base/kernels/line-memory.ts';
import { LiteralFinder } from '../../base/kernels/literal-finder.ts';
import type { CaptureWants } from '../../base/model/page-captures.ts';
import type { EarlyTests } from './early-tests.ts';
import type { LabelTest } from './label-filter.ts';
import { indexOfBytes, parsePattern, patternParts, refuseConsecutiveCaptures } from './pattern-syntax.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_RAW, type RowLabels } from './row-labels.ts';

/**
 * Maximum length of a literal for marks. A longer one could be built to nearly match at every mark. Another
 * search is used for it, which does not compare the whole literal at each byte.
 */
const MAX_MARKED_LITERAL = 32;

/** Captures of lines as stored. */
interface PatternCaptures extends Pick<CaptureWants, 'lead' | 'literals'> {
  /** Label of each capture, -1 for a capture without a name. */
  readonly names: readonly number[];
}

export interface PatternParser {
  readonly stage: RowStage;
  /** Undefined if only the stage can find them. */
  readonly captures: PatternCaptures | undefined;
}

/** Pattern and filters on its captures, for rows that have no other stages. */
export interface PatternPlan {
  readonly stages: readonly RowStage[];
  readonly captures: PatternCaptures;
  /** Filters, all of which must accept, with the label that each reads. */
  readonly tests: readonly { readonly id: number; readonly test: LabelTest }[];
}

/** Throws an Error with the reference's text if the pattern is invalid. */
export function compilePatternParser(text: string, labels: RowLabels, early: EarlyTests): PatternParser {
  const nodes = parsePattern(text);
  refuseConsecutiveCaptures(nodes);
  const { lead, names: captureNames, literals } = patternParts(nodes);
  const ids = captureNames.map(name => (name === '_' ? -1 : labels.intern(name)));
  for (const id of ids) if (id >= 0) labels.suffixed(id);
  // Captures that are not needed set nothing, and cannot fail: do not search for those at the end.
  const wanted = ids.findLastIndex(id => id >= 0 && (labels.wants(id) || labels.wants(labels.suffixed(id))));
  const sought = literals.slice(0, wanted + 1);
  const marks = marksOf(sought);
  const finder = LiteralFinder.of(sought, lead.length);
  const targets = new CaptureTargets(ids, labels);

  const stage = (row: Row) => {
    if (targets.runSerial !== labels.runSerial) targets.enterRun();
    const targetIds = targets.ids;
    const source = row.source;
    const end = row.end;
    let at = row.start;
    if (at === end || labels.allFound) return true;
    if (end - at < lead.length) return true;
    for (let i = 0; i < lead.length; i++) if (source[at + i] !== lead[i]) return true;
    at += lead.length;
    // Offsets of the literals in lines as stored, found for many lines together; -1 if not searched.
    const known = finder === undefined || row.changed ? -1 : finder.find(row.page, source, labels.row);
    if (known < 0) marks?.set(source, at, end);
    for (let i = 0; i <= wanted; i++) {
      const literal = literals.at(i);
      let found = -1;
      if (literal !== undefined) {
        if (known < 0) found = offsetOf(literal, source, at, end, marks);
        else found = finder!.stops[known + i] - finder!.base;
      }
      const stop = found < 0 ? end : found;
      const target = targetIds[i];
      if (target !== UNSEEN) {
        const id = target === BY_ROW ? targets.ofRow(i) : target;
        if (id >= 0 && !labels.isExtracted(id)) {
          labels.setBytes(id, KIND_RAW, source, at, stop);
          if (early.rejects(id, labels)) return false;
        }
      }
      if (found < 0) return true;
      at = stop + (literal as Buffer).length;
    }
    return true;
  };
  const names = ids.slice(0, wanted + 1);
  return { stage, captures: finder && { names, lead, literals: sought } };
}

/** The capture is not needed. */
const UNSEEN = -1;
/** The label depends on the row's metadata. */
const BY_ROW = -2;

/** Labels of captures, mostly determined by the stream. */
class CaptureTargets {
  readonly #names: readonly number[];
  readonly #labels: RowLabels;
  /** Label of each capture, UNSEEN or BY_ROW. */
  readonly ids: Int32Array;
  runSerial = -1;

  constructor(names: readonly number[], labels: RowLabels) {
    this.#names = names;
    this.#labels = labels;
    this.ids = new Int32Array(names.length);
  }

  enterRun(): void {
    const labels = this.#labels;
    this.runSerial = labels.runSerial;
    for (let i = 0; i < this.ids.length; i++) {
      const name = this.#names[i];
      if (name < 0) this.ids[i] = UNSEEN;
      else if (labels.hasColumn(name)) this.ids[i] = BY_ROW;
      else this.ids[i] = this.#wantedOf(labels.streamHas(name) ? labels.suffixed(name) : name);
    }
  }

  /** Returns the label of a BY_ROW capture in the current row. */
  ofRow(capture: number): number {
    const name = this.#names[capture];
    return this.#wantedOf(this.#labels.collides(name) ? this.#labels.suffixed(name) : name);
  }

  #wantedOf(id: number): number {
    return this.#labels.wants(id) ? id : UNSEEN;
  }
}

/**
 * Returns marks for the first bytes of the literals; undefined if there are too many, or if some literals are
 * too long.
 */
function marksOf(literals: readonly Buffer[]): LineMarks | undefined {
  const firsts = [...new Set(literals.map(literal => literal[0]))];
  if (firsts.length === 0 || firsts.length > 3) return undefined;
  const [a, b = a, c = a] = firsts;
  return new LineMarks({ a, b, c, below: 0 });
}

/** Returns the first offset of a literal, or -1. */
function offsetOf(
  literal: Buffer,
  source: Buffer,
  start: number,
  end: number,
  marks: LineMarks | undefined,
): number {
  const last = end - literal.length;
  if (marks === undefined || literal.length > MAX_MARKED_LITERAL)
    return indexOfBytes(source, start, end, literal);
  const { words, shift } = marks;
  for (let at = start; at <= last; at++) {
    at = nextMark(words, shift, at);
    if (at > last) return -1;
    let i = 0;
    while (i < literal.length && source[at + i] === literal[i]) i++;
    if (i === literal.length) return at;
  }
  return -1;
}
