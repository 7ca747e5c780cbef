/** Shared by parsers: how a value becomes a label, and how reading a line may end early. */
import type { EarlyTests } from './early-tests.ts';
import type { RowLabels } from './row-labels.ts';

// Outcomes of setting a value. SET: continue with the line.
export const SET = 0;
/** Every needed label is set: skip the remaining line (docs/dev/logql-semantics.md#parsers-that-are-skipped). */
export const FOUND_ALL = -1;
/** A filter after the parser drops the row. */
export const DROPPED = -2;

/** Sets a value unless its label is already set or not needed. */
export function setParsedValue(
  labels: RowLabels,
  early: EarlyTests,
  id: number,
  kind: number,
  source: Buffer,
  start: number,
  end: number,
): number {
  if (!labels.wants(id) || labels.isExtracted(id)) return SET;
  labels.setBytes(id, kind, source, start, end);
  if (!early.isEmpty && early.rejects(id, labels)) return DROPPED;
  return labels.allFound ? FOUND_ALL : SET;
}
