/**
 * A table that reads in this thread and writes in another. Two SQLite connections that commit wait for each
 * other's lock, and each syncs separately. So one thread commits for all, in groups. Reads of SQLite do not
 * wait, and see everything that was committed before they started.
 */
import type { Item, Table, Write } from '../../shared/base/ports/table.ts';

/** @param write same as Table.transact; a single write fails with index 0 */
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

/** Copies the item's buffers, because a message transfers the whole memory that a view is part of. */
function ownItem(item: Item): Item {
  return { ...item, body: new Uint8Array(item.body) };
}

/** Minimum size of a body that is moved to the other thread. Copying smaller ones costs less. */
const MOVED_BYTES = 16 * 1024;

/** Buffers of the bodies to move. `forwardedTable` has given each a separate buffer. */
export function movedBodies(writes: readonly Write[]): ArrayBuffer[] {
  const moved: ArrayBuffer[] = [];
  for (const write of writes) {
    if (write.kind === 'put' && write.item.body.byteLength >= MOVED_BYTES) {
      moved.push(write.item.body.buffer as ArrayBuffer);
    }
  }
  return moved;
}
