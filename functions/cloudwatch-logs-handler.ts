/**
 * Stores the events of a subscription filter of CloudWatch Logs: `{"awslogs": {"data": base64 of gzip of the
 * envelope}}`.
 *
 * Pitfall: the log group of this function must not have a subscription to it, because every line that it logs
 * would call it again.
 */
import { cloudWatchReceiver } from '../shared/write/ingest/receivers/cloudwatch-logs.ts';
import type { EventStore } from './event-store.ts';

const NO_EVENT = 'this function accepts events of a subscription of CloudWatch Logs';

/** Throws if the event is invalid or cannot be stored now. Lambda then retries the event. */
export function createCloudWatchHandler(store: EventStore): (event: unknown) => Promise<void> {
  const receiver = cloudWatchReceiver(store.labels);
  return async event => {
    const data = (event as { awslogs?: { data?: unknown } } | null)?.awslogs?.data;
    if (typeof data !== 'string') throw new Error(NO_EVENT);
    await store.push({ body: Buffer.from(data, 'base64'), receiver, source: 'cloudwatch-logs' });
  };
}
