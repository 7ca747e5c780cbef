/**
 * A table whose reads are of this thread and whose writes go to another: for a second thread beside SQLite. Two connections that
 * commit wait for each other's lock, and the thread that serves would wait for one that a thread of low priority holds; so it
 * makes all commits, in groups with its own. Reads of SQLite wait for nobody, and see what was committed before they began.
 */
import type { Item, Table, Write } from '../shared/ports/table.ts';

/** @param write as Table.transact; a single write fails as that does, with the place 0 */
export function forwardedTable(
  reads: Pick<Table, 'get' | 'query'>,
  write: (writes: readonly Write[]) => Promise<void>,
): Table {
  return {
    get: key => reads.get(key),
    query: (pk, options) => reads.query(pk, options),
    put: (item, condition) => write([{ kind: 'put', item: ownItem(item), condition }]),
    delete: (key, condition) => write([{ kind: 'delete', key, condition }]),
    async transact(writes) {
      if (writes.length === 0) return;
      await write(writes.map(one => (one.kind === 'put' ? { ...one, item: ownItem(one.item) } : one)));
    },
  };
}

/** A message takes all of the memory that a part of it lies in. */
function ownItem(item: Item): Item {
  return { ...item, body: new Uint8Array(item.body) };
}
