/** Object store whose calls fail, wait and report false errors, determined by a seed. */
import type { ObjectStore } from '../object-store.ts';
import { type FaultOptions, type Faults, faultInjector } from './faults.ts';

interface FaultyObjectStore extends ObjectStore {
  readonly faults: Faults;
}

export function faultyObjectStore(inner: ObjectStore, options: FaultOptions): FaultyObjectStore {
  const { faults, call } = faultInjector(options);
  return {
    isDistant: inner.isDistant,
    faults,
    putIfAbsent: (key, body) => call('putIfAbsent', key, () => inner.putIfAbsent(key, body)),
    get: key => call('get', key, () => inner.get(key)),
    getRange: (key, start, end) => call('getRange', key, () => inner.getRange(key, start, end)),
    getTail: (key, length) => call('getTail', key, () => inner.getTail(key, length)),
    head: key => call('head', key, () => inner.head(key)),
    delete: key => call('delete', key, () => inner.delete(key)),
    list: (prefix, page) => call('list', prefix, () => inner.list(prefix, page)),
  };
}
