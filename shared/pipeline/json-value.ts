/** What both ways of reading a JSON object share: how a value becomes a label, and how a reading may end early. */
import type { EarlyTests } from './early-tests.ts';
import { OK } from './json-scan.ts';
import type { RowLabels } from './row-labels.ts';

/** Objects nested deeper are skipped: a label name of so many parts is nobody's. */
export const MAX_JSON_DEPTH = 128;

// Outcomes beside those of json-scan.ts.
/** Everything wanted was found: the rest of the line is not looked at (10.2). */
export const FOUND_ALL = -1;
/** A filter that follows drops the row. */
export const DROPPED = -2;
/** Sets a value; OK, FOUND_ALL or DROPPED. */
export function setJsonValue(
  labels: RowLabels,
  early: EarlyTests,
  id: number,
  kind: number,
  source: Buffer,
  start: number,
  end: number,
): number {
  if (!labels.wants(id) || labels.isExtracted(id)) return OK;
  labels.setBytes(id, kind, source, start, end);
  if (!early.isEmpty && early.rejects(id, labels)) return DROPPED;
  return labels.allFound ? FOUND_ALL : OK;
}
