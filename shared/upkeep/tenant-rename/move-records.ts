/**
 * What a tenant has beside its chunks: delete requests, rule groups with their states, saved queries and boards, usage,
 * tokens. Each is put under the
 * new name before it is taken from the old one, so a kill leaves it under one or both, and the next run goes on.
 */

import { MS_PER_DAY } from '../../base/model/time-units.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import type { LoadedRecord } from '../../storage/catalog/rule-states.ts';
import { SAVED_KINDS } from '../../storage/catalog/saved-items.ts';
import { KEPT_DAYS } from '../../storage/catalog/usage-records.ts';
import { type Move, type MoveParts, MoveRefusedError } from './move-parts.ts';

/** Clocks of those who counted may be ahead. */
const DAYS_AHEAD = 2;
/** Each is a small read; they wait for the table, not for each other. */
const USAGE_DAYS_AT_ONCE = 16;
/** A token is written when it is revoked, and once a day when it is used. */
const MAX_TRIES = 5;

/** Before the chunks: what a request hides must be hidden under the new name, too. */
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

/** After the chunks: until then they hide entries under the old name. */
export async function removeDeleteRequests({ catalog }: MoveParts, { from, hold }: Move): Promise<void> {
  for (const request of await catalog.deletes.list(from)) {
    await hold();
    await catalog.deletes.remove(request);
  }
}

/** Of each group its state comes first: a group without one would begin its alerts anew. */
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
  // Of groups that were deleted, whose alerts are still to be resolved.
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
    throw new MoveRefusedError(`the state of the rule group ${namespace}/${name} changes while it is moved`);
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
      // A writer's name is its own for ever: under the new tenant it takes nobody's place.
      await usage.write({ ...record, tenant: to });
      await usage.remove(record);
      totals.usageRecords++;
    }
  }
}

/** Tokens for the old name are for the new one; those for all tenants stay as they are. */
export async function moveTokens({ tokens }: MoveParts, { from, to, hold, totals }: Move): Promise<void> {
  for (const { id, tenants } of await tokens.list()) {
    if (!tenants.includes(from)) continue;
    for (let isWritten = false, tries = 0; !isWritten; tries++) {
      await hold();
      const stored = await tokens.get(id);
      if (stored === undefined) break;
      const names = new Set(stored.record.tenants.map(name => (name === from ? to : name)));
      isWritten = await tokens.replace(stored.version, { ...stored.record, tenants: [...names] });
      if (tries === MAX_TRIES) throw new ThrottledError(`the token ${id} changes while it is moved`);
    }
    totals.tokens++;
  }
}
