/**
 * A table whose reads are of this thread and whose writes go to another. Two connections of SQLite that commit wait for each
 * other's lock, and each would sync by itself; so one thread makes the commits of all, in groups. Reads of SQLite wait for nobody,
 * and see what was committed before they began.
 */
import type { Item, Table, Write } from '../../shared/base/ports/table.ts';

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

/** From this size on a body is moved to the other thread; smaller ones are cheaper copied. */
const MOVED_BYTES = 16 * 1024;

/** Buffers of the bodies that are to be moved; `forwardedTable` has given each a buffer of its own. */
export function movedBodies(writes: readonly Write[]): ArrayBuffer[] {
  const moved: ArrayBuffer[] = [];
  for (const write of writes) {
    if (write.kind === 'put' && write.item.body.byteLength >= MOVED_BYTES) {
      moved.push(write.item.body.buffer as ArrayBuffer);
    }
  }
  return moved;
}
