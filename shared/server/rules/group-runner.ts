/**
 * Runs everything that is due for one group, under its lease:
 *
 *     lease -> read the record -> for each due instant: evaluate, store -> deliver -> store the delivered state -> release lease
 *
 * A kill at any arrow loses nothing. Before the record is stored, the next run evaluates the instant again.
 * Afterwards, the next run delivers the stored record. If two runs overlap, the lease and the record's
 * version let only one of them store.
 */

import { messageOf } from '../../base/model/errors.ts';
import { type Lease, LeaseLostError, type Leases } from '../../storage/catalog/leases.ts';
import type { RuleState, StoredGroup } from '../../storage/catalog/rule-group.ts';
import type { GroupRecord } from '../../storage/catalog/rule-state.ts';
import { type LoadedRecord, type RuleStates, StateTooLargeError } from '../../storage/catalog/rule-states.ts';
import { type DeliveryParts, deliverGroup, isUndelivered } from './deliver.ts';
import { type EvaluationParts, evaluateInstant } from './evaluate.ts';
import { dueInstants, scheduleOf } from './instants.ts';
import { withinTime } from './within-time.ts';

export interface GroupRunnerParts extends EvaluationParts, DeliveryParts {
  readonly leases: Leases;
  readonly states: RuleStates;
  /** Interval of groups without one, ns. */
  readonly evaluationIntervalNs: bigint;
  /** False for tenants that want no recorded series. */
  readonly writesSeries: (tenant: string) => boolean;
}

interface GroupRun {
  /** `busy`: another process runs the group. `idle`: nothing was due. */
  readonly end: 'done' | 'busy' | 'idle';
  /** First later instant that is due, Unix ns. */
  readonly nextNs: bigint;
  readonly instants: number;
  readonly missed: number;
  readonly failures: readonly string[];
}

/** Short, and renewed during the run, so that a run after a kill waits no longer than this. */
const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 3;
/** Limit for one delivery. Contents that were not delivered wait in the record. */
const MAX_DELIVERY_MS = 60_000;

/** Another process now writes the record. */
class RecordLostError extends Error {}

/** Rejects if the store fails or the signal aborts. */
export async function runGroup(
  parts: GroupRunnerParts,
  stored: StoredGroup,
  signal: AbortSignal,
): Promise<GroupRun> {
  const { clock, leases } = parts;
  const { tenant, namespace, group } = stored;
  const interval = group.intervalNs > 0n ? group.intervalNs : parts.evaluationIntervalNs;
  const schedule = scheduleOf([tenant, namespace, group.name], interval);
  const nothing = { instants: 0, missed: 0, failures: [] };
  const nowNs = clock.nowNs();
  const lease = await leases.take(leaseOf(stored), LEASE_MS);
  if (lease === undefined) return { ...nothing, end: 'busy', nextNs: nowNs };
  return whileHeld(parts, lease, signal, async held => {
    let loaded = await parts.states.load({ tenant, namespace, name: group.name });
    const due = dueInstants(schedule, BigInt(loaded.record.state.lastEvaluationNs), nowNs);
    const run = { ...nothing, nextNs: due.nextNs };
    if (due.instants.length === 0 && !isUndelivered(parts, stored, loaded.record)) {
      return { ...run, end: 'idle' };
    }
    const receivers = parts.writesSeries(tenant) ? parts.writer.receivers : [];
    if (due.missed > 0) {
      parts.figures.missed += due.missed;
      loaded = { ...loaded, record: { ...loaded.record, missed: loaded.record.missed + due.missed } };
    }
    for (const [index, timeNs] of due.instants.entries()) {
      const afterOutage = index === 0 && due.missed > 0;
      const instant = { timeNs, afterOutage, receivers, notifies: parts.notify !== undefined, signal: held };
      loaded = await store(
        parts,
        lease,
        stored,
        loaded,
        await evaluateInstant(parts, stored, loaded.record, instant),
      );
      count(parts, loaded.record);
    }
    const failures = due.missed > 0 ? [`skipped ${due.missed} missed evaluations`] : [];
    failures.push(...(await deliverStored(parts, lease, stored, loaded, held)));
    return { ...run, end: 'done', instants: due.instants.length, missed: due.missed, failures };
  });
}

/**
 * Ends the series of a deleted group and removes its record. Returns false if another process runs the group.
 */
export async function retireGroup(
  parts: GroupRunnerParts,
  stored: StoredGroup,
  signal: AbortSignal,
): Promise<boolean> {
  const lease = await parts.leases.take(leaseOf(stored), LEASE_MS);
  if (lease === undefined) return false;
  return whileHeld(parts, lease, signal, async held => {
    const { tenant, namespace, group } = stored;
    const loaded = await parts.states.load({ tenant, namespace, name: group.name });
    if (loaded.version < 0) return true;
    const receivers = parts.writesSeries(tenant) ? parts.writer.receivers : [];
    const hasSeries = Object.values(loaded.record.series).some(series => series.length > 0);
    let current = loaded;
    if (hasSeries && receivers.length > 0) {
      const timeNs = parts.clock.nowNs();
      const instant = { timeNs, afterOutage: false, receivers, notifies: false, signal: held };
      current = await store(
        parts,
        lease,
        stored,
        loaded,
        await evaluateInstant(parts, stored, loaded.record, instant),
      );
    }
    if (current.record.pending.length > 0) {
      const { record } = await deliverGroup(parts, stored, current.record, { intervalNs: 0n, signal: held });
      // Endpoints that are down get no end of these series. They expire them after some minutes.
      current = { ...current, record };
    }
    return parts.states.delete(tenant, current, lease);
  });
}

function leaseOf({ tenant, namespace, group }: StoredGroup): string {
  return `rules/${encodeURIComponent(tenant)}/${encodeURIComponent(namespace)}/${encodeURIComponent(group.name)}`;
}

async function deliverStored(
  parts: GroupRunnerParts,
  lease: Lease,
  stored: StoredGroup,
  loaded: LoadedRecord,
  held: AbortSignal,
): Promise<readonly string[]> {
  if (!isUndelivered(parts, stored, loaded.record)) return [];
  const { intervalNs } = stored.group;
  const within = { intervalNs: intervalNs > 0n ? intervalNs : parts.evaluationIntervalNs };
  const reason = new Error(`delivery timed out after ${MAX_DELIVERY_MS} ms; the next run retries`);
  const bounds = { clock: parts.clock, ms: MAX_DELIVERY_MS, signal: held, reason };
  const { record, failures } = await withinTime(bounds, signal =>
    deliverGroup(parts, stored, loaded.record, { ...within, signal }),
  );
  await store(parts, lease, stored, loaded, record);
  return failures;
}

/** Throws RecordLostError. */
async function store(
  { states }: GroupRunnerParts,
  lease: Lease,
  { tenant }: StoredGroup,
  loaded: LoadedRecord,
  record: GroupRecord,
): Promise<LoadedRecord> {
  let saved: LoadedRecord | undefined;
  try {
    saved = await states.save(tenant, loaded, record, lease);
  } catch (error) {
    if (!(error instanceof StateTooLargeError)) throw error;
    saved = await states.save(tenant, loaded, withoutNews(loaded.record, record, error), lease);
  }
  if (saved === undefined) throw new RecordLostError('another process is evaluating the group');
  return saved;
}

/** Keeps the previous contents, with the reason why nothing was added. */
function withoutNews(before: GroupRecord, after: GroupRecord, error: Error): GroupRecord {
  const rules = Object.fromEntries(
    Object.entries(after.state.rules).map(([key, rule]): [string, RuleState] => {
      const alerts = before.state.rules[key]?.alerts ?? [];
      return [key, { ...rule, health: 'err', lastError: messageOf(error), alerts }];
    }),
  );
  return { ...before, missed: after.missed, state: { ...after.state, rules } };
}

function count({ figures }: GroupRunnerParts, { state }: GroupRecord): void {
  for (const { health } of Object.values(state.rules)) {
    figures.evaluations++;
    if (health === 'err') figures.failedEvaluations++;
  }
}

/** Runs the work under the lease, renews it, and aborts the work if the lease is lost. Releases the lease. */
async function whileHeld<T>(
  { leases, clock }: GroupRunnerParts,
  lease: Lease,
  signal: AbortSignal,
  work: (held: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const lost = new AbortController();
  const hold = leases.holder(lease, LEASE_MS);
  const renewing = (async () => {
    for (;;) {
      await clock.sleep(RENEW_MS, done.signal).catch(() => undefined);
      if (done.signal.aborted) return;
      await hold();
    }
    // A failing store does not mean a lost lease: every write checks the lease itself.
  })().catch(error => {
    if (error instanceof LeaseLostError) lost.abort(error);
  });
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    done.abort();
    await renewing;
    await leases.release(lease).catch(() => undefined);
  }
}
