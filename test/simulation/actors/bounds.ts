/** Bounds of a run of maintenance: more than any takes, so that it ends by itself. */
import type { RunBounds } from '../../../shared/upkeep/maintenance/jobs.ts';
import type { SimulatedProcess } from '../process.ts';

const RUN_MS = 60_000;

export function boundsOf({ clock }: SimulatedProcess): RunBounds {
  return { untilMs: clock.nowMs() + RUN_MS, signal: new AbortController().signal };
}
