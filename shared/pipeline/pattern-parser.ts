/**
 * `| pattern "<ip> - <user> <_>"` (logql reference 7.5): a leading literal stands at the start of the line; each
 * capture reaches to the first place of the next literal, or takes the rest where there is none, and then the
 * captures after it stay unset. Never an error. Names are taken as they are.
 */

import type { EarlyTests } from './early-tests.ts';
import { indexOfBytes, parsePattern, refuseConsecutiveCaptures } from './pattern-syntax.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_RAW, type RowLabels } from './row-labels.ts';

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
    for (let i = 0; i < ids.length; i++) {
      const literal = ends[i];
      const found = literal === undefined ? -1 : indexOfBytes(source, at, end, literal);
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
