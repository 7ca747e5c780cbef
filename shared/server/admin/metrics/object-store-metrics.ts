/** An object store that counts its operations, under the reference's names (docs/dev/wire-format.md#metrics). */
import type { Clock } from '../../../base/ports/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../../base/ports/object-store.ts';
import type { MetricsRegistry } from './registry.ts';

/** Seconds: from a file in the page cache to a slow S3 request. */
const SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];
/** Constant, because a store has one bucket or folder. Its name is useless for dashboards, and private. */
const BUCKET = 'logboom';

/** The reference's names of operations. */
type StoreOperation = 'upload' | 'get' | 'get_range' | 'attributes' | 'delete' | 'iter';

/** Query workers and the maintenance thread use separate stores, which are not counted. */
export function observeObjectStore(
  store: ObjectStore,
  { registry, clock }: { readonly registry: MetricsRegistry; readonly clock: Clock },
): ObjectStore {
  const labels = ['bucket', 'operation'] as const;
  const operations = registry.counter<'bucket' | 'operation'>({
    name: 'loki_objstore_bucket_operations_total',
    help: 'Object store operations.',
    labels,
  });
  const failures = registry.counter<'bucket' | 'operation'>({
    name: 'loki_objstore_bucket_operation_failures_total',
    help: 'Failed object store operations; a missing object is not a failure.',
    labels,
  });
  const seconds = registry.histogram<'bucket' | 'operation'>({
    name: 'loki_objstore_bucket_operation_duration_seconds',
    help: 'Duration of object store operations in seconds.',
    labels,
    buckets: SECONDS,
  });
  const counted = async <T>(operation: StoreOperation, run: () => Promise<T>): Promise<T> => {
    const of = { bucket: BUCKET, operation };
    const startedNs = clock.nowNs();
    operations.inc(of);
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) failures.inc(of);
      throw error;
    } finally {
      seconds.observe(of, Number(clock.nowNs() - startedNs) / 1e9);
    }
  };
  return {
    isDistant: store.isDistant,
    putIfAbsent: (key, body) => counted('upload', () => store.putIfAbsent(key, body)),
    writer:
      store.writer &&
      (() => {
        const writer = store.writer!();
        return { ...writer, put: key => counted('upload', () => writer.put(key)) };
      }),
    get: key => counted('get', () => store.get(key)),
    getRange: (key, start, end) => counted('get_range', () => store.getRange(key, start, end)),
    getTail: (key, length) => counted('get_range', () => store.getTail(key, length)),
    head: key => counted('attributes', () => store.head(key)),
    delete: key => counted('delete', () => store.delete(key)),
    list: (prefix, options) => counted('iter', () => store.list(prefix, options)),
  };
}
