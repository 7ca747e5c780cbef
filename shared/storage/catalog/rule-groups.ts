/**
 * Stores rule groups, one item for each group, so that writers of two groups never overwrite each other.
 *
 *     rh/<tenant>   rules               how many groups there are; its version rises with every change of any of them
 *     r/<tenant>    <namespace>/<name>  a group, both names percent-encoded
 *     rt/<shard>    <tenant>            a tenant with groups
 *
 * Every write is one transaction that begins with the first item. So the number of groups is exact, and two writers of
 * one group are serialized.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import { repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import {
  type Item,
  type ItemKey,
  MAX_ITEM_BODY_BYTES,
  type Table,
  type Write,
} from '../../base/ports/table.ts';
import { MAX_SORT_KEY_BYTES } from '../../base/ports/table-rules.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { COMMON_SHARDS, shardOfText } from './keys.ts';
import type { RuleGroup, RuleStore, StoredGroup } from './rule-group.ts';
import { decodeRuleGroup, encodeRuleGroup } from './rule-group-codec.ts';

/** Maximum number of groups, whatever the limits allow. Every tick reads them all, and one response lists them all. */
export const MAX_RULE_GROUPS = 10_000;
/** Attempts of a write. Writers of one tenant conflict at its first item, and one of them succeeds each time. */
const MAX_TRIES = 50;
/** Groups removed in one transaction, in addition to the first item and the tenant's item. */
const REMOVED_AT_ONCE = 90;

/** The first item of a tenant. */
interface GroupsHead {
  readonly item: Item | undefined;
  readonly groups: number;
}

interface GroupsUpdate {
  /** Change of the number of groups. */
  readonly added: number;
  readonly writes: readonly Write[];
}

export class RuleGroups implements RuleStore {
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
  }

  async list(tenant: string): Promise<readonly StoredGroup[]> {
    const groups = (await this.#items(tenant)).map(item => storedGroup(tenant, item));
    return groups.sort(
      (a, b) => compareText(a.namespace, b.namespace) || compareText(a.group.name, b.group.name),
    );
  }

  async get(tenant: string, namespace: string, name: string): Promise<StoredGroup | undefined> {
    const key = groupKey(tenant, namespace, name);
    const item = isTooLong(key) ? undefined : await this.#table.get(key);
    return item && storedGroup(tenant, item);
  }

  async tenants(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let shard = 0; shard < COMMON_SHARDS; shard++) {
      let after: string | undefined;
      do {
        const page = await this.#table.query(tenantsPartition(shard), { after });
        for (const { sk } of page.items) found.push(sk);
        after = page.next;
      } while (after !== undefined);
    }
    return found.sort(compareText);
  }

  async set(tenant: string, namespace: string, group: RuleGroup, maxGroups: number): Promise<void> {
    if (!namespace.isWellFormed() || !group.name.isWellFormed()) {
      throw new BadRequestError('names of namespace and group must be valid UTF-8');
    }
    const key = groupKey(tenant, namespace, group.name);
    if (isTooLong(key)) {
      throw new BadRequestError(
        `names of namespace and group are too long: use less than ${MAX_SORT_KEY_BYTES} bytes, percent-encoded`,
      );
    }
    const body = encodeRuleGroup(group);
    if (body.length > MAX_ITEM_BODY_BYTES) {
      throw new BadRequestError(
        `the rule group takes ${body.length} bytes, limit: ${MAX_ITEM_BODY_BYTES}: divide it into several`,
      );
    }
    await this.#write(tenant, async ({ groups }) => {
      const stored = await this.#table.get(key);
      // Counts the group as new even if it exists, like the reference.
      if (maxGroups > 0 && groups + 1 > maxGroups) {
        throw new BadRequestError(
          `per-user rule groups limit (limit: ${maxGroups} actual: ${groups + 1}) exceeded`,
        );
      }
      if (stored === undefined && groups >= MAX_RULE_GROUPS) {
        throw new BadRequestError(`too many rule groups: ${groups}, limit: ${MAX_RULE_GROUPS}`);
      }
      const item = { ...key, version: (stored?.version ?? -1) + 1, body };
      const condition = conditionOf(stored);
      return { added: stored === undefined ? 1 : 0, writes: [{ kind: 'put', item, condition }] };
    });
  }

  async delete(tenant: string, namespace: string, name: string): Promise<boolean> {
    const key = groupKey(tenant, namespace, name);
    return (
      (await this.#remove(tenant, async () => {
        const item = isTooLong(key) ? undefined : await this.#table.get(key);
        return item === undefined ? [] : [item];
      })) > 0
    );
  }

  async deleteNamespace(tenant: string, namespace: string): Promise<boolean> {
    const prefix = `${encoded(namespace)}/`;
    let removed = 0;
    for (;;) {
      const count = await this.#remove(tenant, async () => {
        const items = await this.#items(tenant);
        return items.filter(({ sk }) => sk.startsWith(prefix)).slice(0, REMOVED_AT_ONCE);
      });
      removed += count;
      if (count < REMOVED_AT_ONCE) return removed > 0;
    }
  }

  /** Resolves to the number of deleted items. */
  async #remove(tenant: string, choose: () => Promise<readonly Item[]>): Promise<number> {
    let count = 0;
    await this.#write(tenant, async () => {
      const items = await choose();
      count = items.length;
      if (count === 0) return undefined;
      return {
        added: -count,
        writes: items.map(({ pk, sk, version }) => ({
          kind: 'delete',
          key: { pk, sk },
          condition: { kind: 'version', version },
        })),
      };
    });
    return count;
  }

  async #write(tenant: string, plan: (head: GroupsHead) => Promise<GroupsUpdate | undefined>): Promise<void> {
    const tooMany = () =>
      new ThrottledError(`too many concurrent changes to the rule groups of tenant ${tenant}; retry`);
    await repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const head = await this.#head(tenant);
      const step = await plan(head);
      if (step === undefined) return;
      await this.#table.transact([...headWrites(tenant, head, step.added), ...step.writes]);
    });
  }

  async #head(tenant: string): Promise<GroupsHead> {
    const item = await this.#table.get(headKey(tenant));
    return { item, groups: item === undefined ? 0 : Number(Buffer.from(item.body).toString()) };
  }

  async #items(tenant: string): Promise<Item[]> {
    const items: Item[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query(groupsPartition(tenant), { after });
      items.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return items;
  }
}

/** Two writes: the head with its version raised, and the marker that the tenant has groups. */
function headWrites(tenant: string, { item, groups }: GroupsHead, added: number): Write[] {
  const left = groups + added;
  const next = { ...headKey(tenant), version: (item?.version ?? -1) + 1, body: Buffer.from(String(left)) };
  const key = { pk: tenantsPartition(shardOfText(tenant)), sk: tenant };
  return [
    { kind: 'put', item: next, condition: conditionOf(item) },
    left > 0
      ? { kind: 'put', item: { ...key, version: 0, body: new Uint8Array(0) } }
      : { kind: 'delete', key },
  ];
}

function conditionOf(stored: Item | undefined) {
  return stored === undefined
    ? ({ kind: 'absent' } as const)
    : ({ kind: 'version', version: stored.version } as const);
}

function storedGroup(tenant: string, { sk, version, body }: Item): StoredGroup {
  const [namespace] = sk.split('/').map(decodeURIComponent);
  return { tenant, namespace, group: decodeRuleGroup(body), version };
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isTooLong({ sk }: ItemKey): boolean {
  return sk.length > MAX_SORT_KEY_BYTES;
}

function groupKey(tenant: string, namespace: string, name: string): ItemKey {
  return {
    pk: groupsPartition(tenant),
    sk: `${encoded(namespace)}/${encoded(name)}`,
  };
}

/** Encodes half of a surrogate pair as text that matches no stored name. */
function encoded(name: string): string {
  return encodeURIComponent(name.isWellFormed() ? name : '');
}

function headKey(tenant: string): ItemKey {
  return { pk: `rh/${tenant}`, sk: 'rules' };
}

function groupsPartition(tenant: string): string {
  return `r/${tenant}`;
}

function tenantsPartition(shard: number): string {
  return `rt/${shard}`;
}
