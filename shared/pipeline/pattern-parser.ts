/**
 * `| pattern "<ip> - <user> <_>"` (logql reference 7.5): a leading literal stands at the start of the line; each
 * capture reaches to the first place of the next literal, or takes the rest where there is none, and then the
 * captures after it stay unset. Never an error. Names are taken as they are.
 */
import { LineMarks, nextMark } from '../chunk/line-memory.ts';
import type { EarlyTests } from './early-tests.ts';
import { indexOfBytes, parsePattern, refuseConsecutiveCaptures } from './pattern-syntax.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_RAW, type RowLabels } from './row-labels.ts';

/** Longer ones, made to nearly match at every mark, are left to a search that does not look at each byte for each. */
const MAX_MARKED_LITERAL = 32;

/** Throws an Error with the reference's text where the pattern is none. */
export function compilePatternParser(text: string, labels: RowLabels, early: EarlyTests): RowStage {
  const nodes = parsePattern(text);
  refuseConsecutiveCaptures(nodes);
  const first = nodes[0];
  const lead = first?.kind === 'literal' ? first.bytes : undefined;
  // Each capture with the literal that ends it, undefined for one that ends the pattern.
  const ids: number[] = [];
  const ends: (Buffer | undefined)[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (node.kind !== 'capture') continue;
    const next = nodes[i + 1];
    ids.push(node.name === '_' ? -1 : labels.intern(node.name));
    ends.push(next?.kind === 'literal' ? next.bytes : undefined);
  }
  for (const id of ids) if (id >= 0) labels.suffixed(id);
  // Captures that nobody wants set nothing, and there is no failure to find: those at the end are not looked for.
  const wanted = ids.findLastIndex(id => id >= 0 && (labels.wants(id) || labels.wants(labels.suffixed(id))));
  const marks = marksOf(ends.slice(0, wanted + 1));

  return (row: Row) => {
    const source = row.source;
    const end = row.end;
    let at = row.start;
    if (at === end || labels.allFound) return true;
    if (lead !== undefined) {
      if (end - at < lead.length) return true;
      for (let i = 0; i < lead.length; i++) if (source[at + i] !== lead[i]) return true;
      at += lead.length;
    }
    marks?.set(source, at, end);
    for (let i = 0; i <= wanted; i++) {
      const literal = ends[i];
      const found = literal === undefined ? -1 : placeOf(literal, source, at, end, marks);
      const stop = found < 0 ? end : found;
      if (ids[i] >= 0) {
        const id = labels.collides(ids[i]) ? labels.suffixed(ids[i]) : ids[i];
        if (labels.wants(id) && !labels.isExtracted(id)) {
          labels.setBytes(id, KIND_RAW, source, at, stop);
          if (early.rejects(id, labels)) return false;
        }
      }
      if (found < 0) return true;
      at = stop + (literal as Buffer).length;
    }
    return true;
  };
}

/** Marks for the first bytes of the literals; undefined where they are too many, or some are not to be sought so. */
function marksOf(literals: readonly (Buffer | undefined)[]): LineMarks | undefined {
  const firsts = [...new Set(literals.flatMap(literal => (literal === undefined ? [] : [literal[0]])))];
  if (firsts.length === 0 || firsts.length > 3) return undefined;
  const [a, b = a, c = a] = firsts;
  return new LineMarks({ a, b, c, below: 0 });
}

/** First place of a literal, or -1. */
function placeOf(
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
