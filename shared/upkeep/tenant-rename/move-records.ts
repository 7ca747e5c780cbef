/**
 * Moves the records of a tenant other than chunks: delete requests, rule groups with their states, saved
 * queries and boards, usage, and tokens. Each is written under the new name before it is removed from the old
 * one. So a kill leaves it under one or both names, and the next run continues.
 */

import { MS_PER_DAY } from '../../base/model/time-units.ts';
import { CONFLICT, repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import type { LoadedRecord } from '../../storage/catalog/rule-states.ts';
import { SAVED_KINDS } from '../../storage/catalog/saved-items.ts';
import { KEPT_DAYS } from '../../storage/catalog/usage-records.ts';
import { type Move, type MoveParts, MoveRefusedError } from './move-parts.ts';

/** Clocks of the processes that count usage may be ahead. */
const DAYS_AHEAD = 2;
/** Each is a small read whose time is mostly waiting for the table. */
const USAGE_DAYS_AT_ONCE = 16;
/** A token is written when it is revoked, and once a day when it is used. */
const MAX_TRIES = 5;

/** Runs before the chunks, because rows that a request hides must be hidden under the new name too. */
export async function copyDeleteRequests(
  { catalog }: MoveParts,
  { from, to, hold, totals }: Move,
): Promise<void> {
  for (const request of await catalog.deletes.list(from)) {
    await hold();
    await catalog.deletes.adopt({ ...request, tenant: to });
    totals.deleteRequests++;
  }
}

/** Runs after the chunks, because until then the requests hide entries under the old name. */
export async function removeDeleteRequests({ catalog }: MoveParts, { from, hold }: Move): Promise<void> {
  for (const request of await catalog.deletes.list(from)) {
    await hold();
    await catalog.deletes.remove(request);
  }
}

/** Moves the state of each group first, because a group without state would restart its alerts. */
export async function moveRules(parts: MoveParts, move: Move): Promise<void> {
  const { ruleGroups, ruleStates } = parts.catalog;
  const { from, to, hold, totals } = move;
  for (const { namespace, group } of await ruleGroups.list(from)) {
    await hold();
    const loaded = await ruleStates.load({ tenant: from, namespace, name: group.name });
    if (loaded.version >= 0) await moveState(parts, move, loaded);
    await ruleGroups.set(to, namespace, group, 0);
    await ruleGroups.delete(from, namespace, group.name);
    totals.ruleGroups++;
  }
  // States of deleted groups whose alerts are still to be resolved.
  for (const loaded of await ruleStates.orphans(from, [])) {
    await hold();
    await moveState(parts, move, loaded);
  }
}

async function moveState(
  { catalog: { ruleStates } }: MoveParts,
  { from, to, lease }: Move,
  loaded: LoadedRecord,
): Promise<void> {
  const { namespace, name } = loaded.record;
  const known = await ruleStates.load({ tenant: to, namespace, name });
  const isThere =
    known.version >= 0 || (await ruleStates.save(to, known, loaded.record, lease)) !== undefined;
  if (!isThere || !(await ruleStates.delete(from, loaded, lease))) {
    throw new MoveRefusedError(
      `state of rule group ${namespace}/${name} changed during the move; run the move again`,
    );
  }
}

export async function moveSaved(
  { catalog: { saved } }: MoveParts,
  { from, to, hold, totals }: Move,
): Promise<void> {
  for (const kind of SAVED_KINDS) {
    for (const head of await saved.list(from, kind)) {
      await hold();
      await saved.adopt(to, kind, await saved.get(from, kind, head.id));
      await saved.delete(from, kind, head);
      totals.savedItems++;
    }
  }
}

export async function moveUsage(
  { usage, clock }: MoveParts,
  { from, to, hold, totals }: Move,
): Promise<void> {
  const today = Math.floor(clock.nowMs() / MS_PER_DAY);
  const days = Array.from({ length: KEPT_DAYS + 1 + DAYS_AHEAD }, (_, i) => today + DAYS_AHEAD - i);
  for (let i = 0; i < days.length; i += USAGE_DAYS_AT_ONCE) {
    await hold();
    const batch = days.slice(i, i + USAGE_DAYS_AT_ONCE);
    const found = await Promise.all(batch.map(day => Array.fromAsync(usage.read(from, day))));
    for (const record of found.flat()) {
      // Names of writers are unique forever, so it replaces no record of the new tenant.
      await usage.write({ ...record, tenant: to });
      await usage.remove(record);
      totals.usageRecords++;
    }
  }
}

/** Changes tokens for the old name to the new one. Tokens for all tenants stay unchanged. */
export async function moveTokens({ tokens }: MoveParts, { from, to, hold, totals }: Move): Promise<void> {
  for (const { id, tenants } of await tokens.list()) {
    if (!tenants.includes(from)) continue;
    const tooMany = () => new ThrottledError(`token ${id} changed during the move; run the move again`);
    await repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      await hold();
      const stored = await tokens.get(id);
      if (stored === undefined) return true;
      const names = new Set(stored.record.tenants.map(name => (name === from ? to : name)));
      return (await tokens.replace(stored.version, { ...stored.record, tenants: [...names] })) || CONFLICT;
    });
    totals.tokens++;
  }
}
