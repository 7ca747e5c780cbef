/** What parsers share: how a value becomes a label, and how the reading of a line may end early. */
import type { EarlyTests } from './early-tests.ts';
import type { RowLabels } from './row-labels.ts';

// Outcomes of setting a value.
export const SET = 0;
/** Every wanted label is set: the rest of the line is skipped (docs/dev/logql-semantics.md#parsers-that-are-skipped). */
export const FOUND_ALL = -1;
/** A filter that follows drops the row. */
export const DROPPED = -2;

/** Sets a value unless its label is set already, or nothing asks for it. */
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
