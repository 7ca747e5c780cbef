/**
 * Scheduled job that evaluates rules. It finds due groups and runs several at a time, with tenants in
 * rotation. It keeps finding groups while slow ones run, so that these delay no others. A running group is
 * not started again, and its missed instants are evaluated later or reported.
 *
 * The remembered due times only save reads. The record of a group decides.
 */

import { messageOf } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { RuleStore, StoredGroup } from '../../storage/catalog/rule-group.ts';
import type { GroupKey } from '../../storage/catalog/rule-states.ts';
import type { Job, JobOutcome, RunBounds } from '../../upkeep/maintenance/jobs.ts';
import { type GroupRunnerParts, retireGroup, runGroup } from './group-runner.ts';

interface RuleJobParts extends GroupRunnerParts {
  readonly store: RuleStore;
  readonly everyMs: number;
  /** Interval for finding deleted groups, ms. */
  readonly sweepEveryMs?: number;
  /** Called with all groups at each check. Must not throw. */
  readonly onGroups?: (groups: readonly StoredGroup[]) => void;
}

/** Groups that run concurrently. Each runs one query at a time. */
const MAX_RUNNING = 8;
/** Running groups per tenant, so that another tenant always finds a slot. */
const MAX_RUNNING_OF_TENANT = 3;
/** Remembered groups, 200 bytes each. */
const MAX_REMEMBERED = 100_000;
const SWEEP_EVERY_MS = 300_000;
/** Pause after a store error, or while another process runs the group. */
const RETRY_MS = 2000;

interface Plan {
  readonly version: number;
  /** Earliest time of the next run, Unix ms. */
  readonly notBeforeMs: number;
}

export function ruleJob(parts: RuleJobParts): Job {
  const { clock, store, everyMs, sweepEveryMs = SWEEP_EVERY_MS } = parts;
  const plans = new LruCache<string, Plan>(MAX_REMEMBERED);
  let sweptMs = clock.nowMs();
  let firstTenant = 0;

  async function run(bounds: RunBounds): Promise<JobOutcome> {
    const figures = { groups: 0, instants: 0, missed: 0, busy: 0, retired: 0 };
    const failures: string[] = [];
    let failedGroups = 0;
    const running = new Map<string, Promise<void>>();
    const runningOfTenant = new Map<string, number>();
    const isOver = () => bounds.signal.aborted || clock.nowMs() >= bounds.untilMs;

    async function begin(stored: StoredGroup, key: string): Promise<void> {
      const { tenant } = stored;
      runningOfTenant.set(tenant, (runningOfTenant.get(tenant) ?? 0) + 1);
      figures.groups++;
      let notBeforeMs = clock.nowMs() + RETRY_MS;
      try {
        const {
          end,
          nextNs,
          instants,
          missed,
          failures: failed,
        } = await runGroup(parts, stored, bounds.signal);
        if (end === 'busy') figures.busy++;
        // Pending deliveries are retried with the next instant.
        else notBeforeMs = Math.ceil(Number(nextNs / 1_000_000n));
        figures.instants += instants;
        figures.missed += missed;
        failures.push(...failed.map(failure => `${nameOf(stored)}: ${failure}`));
      } catch (error) {
        failedGroups++;
        failures.push(`${nameOf(stored)}: ${messageOf(error)}`);
      }
      plans.set(key, { version: stored.version, notBeforeMs });
      runningOfTenant.set(tenant, (runningOfTenant.get(tenant) ?? 1) - 1);
      running.delete(key);
    }

    const isSweepDue = clock.nowMs() - sweptMs >= sweepEveryMs;
    let groups: readonly StoredGroup[] = [];
    while (!isOver()) {
      groups = await allGroups();
      parts.onGroups?.(groups);
      let left = false;
      for (const stored of groups) {
        const key = keyOf(stored);
        if (running.has(key) || !isDue(key, stored)) continue;
        const isFull =
          running.size >= MAX_RUNNING || (runningOfTenant.get(stored.tenant) ?? 0) >= MAX_RUNNING_OF_TENANT;
        if (isFull || isOver()) left = true;
        else running.set(key, begin(stored, key));
      }
      if (running.size === 0 && !left) break;
      await somethingEnds(running, left ? undefined : everyMs, bounds.signal);
    }
    await Promise.all(running.values());
    if (isSweepDue && !isOver()) {
      sweptMs = clock.nowMs();
      figures.retired = await sweep(groups, bounds.signal, failures);
    }
    return {
      done: !isOver() || bounds.signal.aborted,
      succeeded: figures.groups - failedGroups,
      figures,
      failures,
    };
  }

  function isDue(key: string, { version }: StoredGroup): boolean {
    const plan = plans.get(key);
    return plan === undefined || plan.version !== version || plan.notBeforeMs <= clock.nowMs();
  }

  /** All groups, with tenants in rotation and a different first tenant each time. */
  async function allGroups(): Promise<StoredGroup[]> {
    const tenants = await store.tenants();
    const queues: StoredGroup[][] = [];
    for (let i = 0; i < tenants.length; i++) {
      queues.push([...(await store.list(tenants[(firstTenant + i) % tenants.length]))]);
    }
    firstTenant++;
    const rotated: StoredGroup[] = [];
    for (let index = 0; queues.some(queue => index < queue.length); index++) {
      for (const queue of queues) if (index < queue.length) rotated.push(queue[index]);
    }
    return rotated;
  }

  /** Resolves when a group ends or the next check is due. */
  async function somethingEnds(
    running: ReadonlyMap<string, Promise<void>>,
    ms: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const done = new AbortController();
    const ends: Promise<unknown>[] = [...running.values()];
    if (ms !== undefined) {
      ends.push(clock.sleep(ms, AbortSignal.any([done.signal, signal])).catch(() => undefined));
    }
    await Promise.race(ends);
    done.abort();
  }

  /** Removes records of deleted groups. Returns their number. */
  async function sweep(
    groups: readonly StoredGroup[],
    signal: AbortSignal,
    failures: string[],
  ): Promise<number> {
    const known = new Map<string, GroupKey[]>();
    for (const { tenant, namespace, group } of groups) {
      const keys = known.get(tenant) ?? [];
      keys.push({ tenant, namespace, name: group.name });
      known.set(tenant, keys);
    }
    let retired = 0;
    for (const tenant of await parts.states.tenants()) {
      for (const { record } of await parts.states.orphans(tenant, known.get(tenant) ?? [])) {
        signal.throwIfAborted();
        const { namespace, name } = record;
        const group = { name, intervalNs: 0n, limit: 0, queryOffsetNs: 0n, rules: [] };
        const stored = { tenant, namespace, group, version: 0 };
        try {
          if (await retireGroup(parts, stored, signal)) retired++;
        } catch (error) {
          failures.push(`${nameOf(stored)}: ${messageOf(error)}`);
        }
      }
    }
    return retired;
  }

  return { name: 'rules', everyMs, isUrgent: true, run };
}

function keyOf({ tenant, namespace, group }: StoredGroup): string {
  return JSON.stringify([tenant, namespace, group.name]);
}

function nameOf({ tenant, namespace, group }: StoredGroup): string {
  return `rules ${tenant}/${namespace}/${group.name}`;
}
