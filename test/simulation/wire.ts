/** Ports made of other ports and a function that every call passes. */
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { ItemKey, Table } from '../../shared/base/ports/table.ts';
import { keyOfWrite } from '../../shared/base/ports/table-rules.ts';

/** Runs one call: `effect` has the effect of the call, at most once. */
type Call = <T>(operation: string, target: string, effect: () => Promise<T>) => Promise<T>;

export function wiredStore(inner: ObjectStore, call: Call): ObjectStore {
  return {
    putIfAbsent: (key, body) => call('putIfAbsent', key, () => inner.putIfAbsent(key, body)),
    get: key => call('get', key, () => inner.get(key)),
    getRange: (key, start, end) =>
      call('getRange', `${key} ${start}-${end}`, () => inner.getRange(key, start, end)),
    getTail: (key, length) => call('getTail', `${key} ${length}`, () => inner.getTail(key, length)),
    head: key => call('head', key, () => inner.head(key)),
    delete: key => call('delete', key, () => inner.delete(key)),
    list: (prefix, page) => call('list', prefix, () => inner.list(prefix, page)),
  };
}

export function wiredTable(inner: Table, call: Call): Table {
  return {
    isDistant: inner.isDistant,
    get: key => call('item', nameOf(key), () => inner.get(key)),
    query: (pk, query) => call('query', `${pk} ${JSON.stringify(query ?? {})}`, () => inner.query(pk, query)),
    put: (item, condition) => call('put', nameOf(item), () => inner.put(item, condition)),
    delete: (key, condition) => call('remove', nameOf(key), () => inner.delete(key, condition)),
    transact: writes =>
      call('transact', writes.map(write => `${write.kind} ${nameOf(keyOfWrite(write))}`).join(', '), () =>
        inner.transact(writes),
      ),
  };
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk} / ${sk}`;
}
