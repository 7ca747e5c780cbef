/** Start and end of a run with deletes: its settings, and the work that completes every request. */
import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import { boundsOf } from '../actors/bounds.ts';
import { checkRuns } from '../actors/run-job.ts';
import type { Dice } from '../dice.ts';
import type { SimulatedProcess } from '../process.ts';
import type { VirtualTime } from '../virtual-time.ts';
import type { RemovalSettings } from './assemble.ts';
import type { Ledger } from './ledger.ts';

/** Runs of the deletion job that complete all requests, in sequence if they are processed one by one. */
const MAX_DELETION_RUNS = 30;
/** Longer than anything that a request waits for. */
const DELETION_STEP_MS = 900_000;

interface RemovalEnd {
  readonly ledger: Ledger;
  readonly time: VirtualTime;
  readonly tenants: readonly string[];
}

export function removalOf({ limits }: Ledger, dice: Dice, removedGraceMs: number): RemovalSettings {
  return {
    limits,
    cancelPeriodMs: dice.pick([0, 0, 30_000, 300_000]),
    batchSize: dice.pick([1, 70]),
    removedGraceMs,
  };
}

/** Every request comes to its end in a few runs, with time enough between them; then nothing expires any more. */
export async function removeAll(process: SimulatedProcess, end: RemovalEnd): Promise<void> {
  const { limits } = end.ledger;
  const deletionMode = 'filter-and-delete';
  for (const tenant of end.tenants) limits.set(tenant, { ...limits.of(tenant), deletionMode });
  await deleteAll(process, end);
  await run(process, end, 'retention');
  const kept = { deletionMode, retentionPeriodNs: 0n, retentionStream: [] } as const;
  for (const tenant of end.tenants) limits.set(tenant, kept);
}

async function deleteAll(process: SimulatedProcess, end: RemovalEnd): Promise<void> {
  const { time } = end;
  for (let i = 0; i < MAX_DELETION_RUNS; i++) {
    await time.run(time.sleep(DELETION_STEP_MS));
    await run(process, end, 'deletion');
    const { value } = await time.run(process.catalog.deletes.tenants().next());
    if (value === undefined) return;
  }
  mustHold(INVARIANTS.workIsDone, false, 'delete requests are not processed');
}

/** A healed store fails in nothing. */
async function run(process: SimulatedProcess, { time }: RemovalEnd, job: string): Promise<void> {
  checkRuns(process, [await time.run(process.maintenance.jobs.run(job, boundsOf(process)))], []);
}
