/** Table whose calls fail, wait and report false errors, determined by a seed. */
import type { ItemKey, Table } from '../table.ts';
import { keyOfWrite } from '../table-rules.ts';
import { type FaultOptions, type Faults, faultInjector } from './faults.ts';

interface FaultyTable extends Table {
  readonly faults: Faults;
}

export function faultyTable(inner: Table, options: FaultOptions): FaultyTable {
  const { faults, call } = faultInjector(options);
  return {
    isDistant: inner.isDistant,
    faults,
    get: key => call('get', nameOf(key), () => inner.get(key)),
    query: (pk, query) => call('query', pk, () => inner.query(pk, query)),
    put: (item, condition) => call('put', nameOf(item), () => inner.put(item, condition)),
    delete: (key, condition) => call('delete', nameOf(key), () => inner.delete(key, condition)),
    transact: writes =>
      call('transact', writes.map(write => nameOf(keyOfWrite(write))).join(', '), () =>
        inner.transact(writes),
      ),
  };
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk} / ${sk}`;
}
