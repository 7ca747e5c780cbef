/**
 * Table that applies a transaction item by item, in a random order, and lets reads see it half applied.
 * DynamoDB's Query may show such states; neither SQLite nor the memory table ever does.
 *
 *     transact:  wait for the keys -> conditions -> item (pause) item (pause) item -> result
 *     get, query:    the items that are applied at that moment
 *     other writes of one of its keys, checked ones included: wait for the result
 *
 * Pitfall: all or nothing still holds. Conditions are checked before the first item, and no other write to a
 * key of the transaction starts before the last item is applied. DynamoDB never shows a single item (GetItem)
 * half applied; in this table, a get is as early as a query.
 */
import { ConditionFailedError, type ItemKey, type Table, type Write } from '../table.ts';
import { checkTransaction, conditionHolds, keyOfWrite } from '../table-rules.ts';

interface ItemByItemOptions {
  /** Returns a number in [0, 1); determines the order of the items. */
  readonly random: () => number;
  /** Runs before each item of a transaction is applied: the time in which others read. */
  readonly pause: () => Promise<void>;
}

export function itemByItemTable(inner: Table, { random, pause }: ItemByItemOptions): Table {
  /** Locks by key; each promise resolves when its transaction ends. At most as many as writes in flight. */
  const held = new Map<string, Promise<void>>();

  /**
   * Waits until all keys are free, then locks them together, so that two calls never wait for each other.
   */
  const holding = async <T>(keys: readonly ItemKey[], work: () => Promise<T>): Promise<T> => {
    const names = keys.map(nameOf);
    for (let other = firstHeld(held, names); other !== undefined; other = firstHeld(held, names)) await other;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const name of names) held.set(name, promise);
    try {
      return await work();
    } finally {
      for (const name of names) held.delete(name);
      resolve();
    }
  };

  const apply = async (write: Write): Promise<void> => {
    if (write.kind === 'put') await inner.put(write.item);
    if (write.kind === 'delete') await inner.delete(write.key);
  };

  return {
    isDistant: inner.isDistant,
    get: key => inner.get(key),
    query: (pk, options) => inner.query(pk, options),
    put: (item, condition) => holding([item], () => inner.put(item, condition)),
    delete: (key, condition) => holding([key], () => inner.delete(key, condition)),

    async transact(writes) {
      checkTransaction(writes);
      await holding(writes.map(keyOfWrite), async () => {
        for (const [index, write] of writes.entries()) {
          const key = keyOfWrite(write);
          const stored = write.condition === undefined ? undefined : await inner.get(key);
          if (!conditionHolds(write.condition, stored?.version)) throw new ConditionFailedError(key, index);
        }
        for (const write of shuffled(writes, random)) {
          await pause();
          await apply(write);
        }
      });
    },
  };
}

function firstHeld(
  held: ReadonlyMap<string, Promise<void>>,
  names: readonly string[],
): Promise<void> | undefined {
  const name = names.find(one => held.has(one));
  return name === undefined ? undefined : held.get(name);
}

function shuffled(writes: readonly Write[], random: () => number): readonly Write[] {
  const left = [...writes];
  for (let i = left.length - 1; i > 0; i--) {
    const index = Math.floor(random() * (i + 1));
    [left[i], left[index]] = [left[index], left[i]];
  }
  return left;
}

/** The length prefix separates ('a', 'bc') from ('ab', 'c'). */
function nameOf({ pk, sk }: ItemKey): string {
  return `${pk.length}:${pk}${sk}`;
}
