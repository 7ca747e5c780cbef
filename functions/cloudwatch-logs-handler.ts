/**
 * Stores what a subscription filter of CloudWatch Logs sends: `{"awslogs": {"data": base64 of gzip of the envelope}}`.
 *
 * A reader would get wrong: the log group of this function must have no subscription to it, or every line that it logs
 * calls it again.
 */
import { cloudWatchReceiver } from '../shared/write/ingest/receivers/cloudwatch-logs.ts';
import type { EventStore } from './event-store.ts';

const NO_EVENT = 'this function takes events of a subscription of CloudWatch Logs';

/** Throws where the event is none or cannot be stored now: Lambda then repeats it. */
export function createCloudWatchHandler(store: EventStore): (event: unknown) => Promise<void> {
  const receiver = cloudWatchReceiver(store.labels);
  return async event => {
    const data = (event as { awslogs?: { data?: unknown } } | null)?.awslogs?.data;
    if (typeof data !== 'string') throw new Error(NO_EVENT);
    await store.push({ body: Buffer.from(data, 'base64'), receiver, source: 'cloudwatch-logs' });
  };
}
