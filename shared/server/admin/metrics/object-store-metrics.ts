/** An object store that counts its operations, under the reference's names (docs/dev/wire-format.md#metrics). */
import type { Clock } from '../../../base/ports/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../../base/ports/object-store.ts';
import type { ObservedSeries } from './prepared-histogram.ts';
import type { MetricSeries, MetricsRegistry } from './registry.ts';

/** Seconds: from a file in the page cache to a slow S3 request. */
const SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];
/** Constant, because a store has one bucket or folder. Its name is useless for dashboards, and private. */
const BUCKET = 'logboom';

/** The reference's names of operations. */
type StoreOperation = 'upload' | 'get' | 'get_range' | 'attributes' | 'delete' | 'iter';

type StoreLabel = 'bucket' | 'operation';

/** Plain numbers, because each push and each read of a query counts here. */
interface OperationFigures {
  started: number;
  failed: number;
  readonly seconds: ObservedSeries;
}

/** Query workers and the maintenance thread use separate stores, which are not counted. */
export function observeObjectStore(
  store: ObjectStore,
  { registry, clock }: { readonly registry: MetricsRegistry; readonly clock: Clock },
): ObjectStore {
  const figures = new Map<StoreOperation, OperationFigures>();
  const labels = ['bucket', 'operation'] as const;
  registry.counter<StoreLabel>({
    name: 'loki_objstore_bucket_operations_total',
    help: 'Object store operations.',
    labels,
    read: () => seriesOf(figures, ({ started }) => started),
  });
  registry.counter<StoreLabel>({
    name: 'loki_objstore_bucket_operation_failures_total',
    help: 'Failed object store operations; a missing object is not a failure.',
    labels,
    read: () => seriesOf(figures, ({ failed }) => failed),
  });
  const seconds = registry.preparedHistogram<StoreLabel>({
    name: 'loki_objstore_bucket_operation_duration_seconds',
    help: 'Duration of object store operations in seconds.',
    labels,
    buckets: SECONDS,
  });
  const nowMs = () => clock.monotonicMs?.() ?? clock.nowMs();
  const figuresOf = (operation: StoreOperation): OperationFigures => {
    let known = figures.get(operation);
    if (known === undefined) {
      known = { started: 0, failed: 0, seconds: seconds.series({ bucket: BUCKET, operation }) };
      figures.set(operation, known);
    }
    return known;
  };
  const counted = async <T>(operation: StoreOperation, run: () => Promise<T>): Promise<T> => {
    const known = figuresOf(operation);
    const startedMs = nowMs();
    known.started++;
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) known.failed++;
      throw error;
    } finally {
      known.seconds.observe((nowMs() - startedMs) / 1000);
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

function seriesOf(
  figures: ReadonlyMap<StoreOperation, OperationFigures>,
  pick: (figures: OperationFigures) => number,
): MetricSeries<StoreLabel>[] {
  return Array.from(figures, ([operation, of]) => ({
    labels: { bucket: BUCKET, operation },
    value: pick(of),
  })).filter(({ value }) => value > 0);
}
