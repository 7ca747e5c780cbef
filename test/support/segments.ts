/** The parts of pushes by day, without the steps between them. */
import type { AcceptedPush } from '../../shared/write/ingest/push-columns.ts';
import { type DayRows, type PartLimits, segmentsOf } from '../../shared/write/ingest/segment.ts';

export function segmentList(pushes: readonly AcceptedPush[], limits?: PartLimits): DayRows[] {
  return [...segmentsOf(pushes, limits)].filter(segment => segment !== undefined);
}
