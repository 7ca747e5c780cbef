/**
 * A function for AWS events in a separate process, so that its memory can be measured. It has the limits of
 * Lambda and stores in memory. It receives an event by message, and answers with the outcome.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createCloudWatchHandler } from '../../../functions/cloudwatch-logs-handler.ts';
import { assembleEventStore } from '../../../functions/event-store.ts';
import { createS3ObjectsHandler } from '../../../functions/s3-objects-handler.ts';
import { withinPlatform } from '../../../functions/settings.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../../shared/server/admin/config-fields.ts';

export type EventFunction = 'cloudwatch-logs' | 's3-objects';

/** `file` holds the object, or the data of the subscription. */
export interface HostileEvent {
  readonly name: EventFunction;
  readonly file: string;
}

export interface EventOutcome {
  /** Number of stored entries. */
  readonly entries: number;
  /** Message of the error that ended the event. */
  readonly error: string | undefined;
}

const OBJECT_EVENT = {
  source: 'aws.s3',
  'detail-type': 'Object Created',
  detail: { bucket: { name: 'logs' }, object: { key: 'hostile' } },
};

process.on('message', (event: HostileEvent) => {
  void outcomeOf(event).then(outcome => process.send!(outcome));
});
process.send!('ready');

async function outcomeOf({ name, file }: HostileEvent): Promise<EventOutcome> {
  const config = withinPlatform({
    ...DEFAULT_CONFIG,
    server: { ...DEFAULT_CONFIG.server, logLevel: 'error' },
  });
  const stores = { store: memoryObjectStore(), table: memoryTable({ clock: SYSTEM_CLOCK }) };
  const settings = { config, warnings: [], bucket: 'chunks' };
  const store = assembleEventStore(name, settings, stores, { LOGBOOM_TENANT: 'attacker' });
  let entries = 0;
  const counting: typeof store = {
    ...store,
    async push(push) {
      const stored = await store.push(push);
      entries += stored;
      return stored;
    },
  };
  try {
    if (name === 's3-objects') {
      const object = { lastModifiedMs: Date.now(), body: createReadStream(file) };
      await createS3ObjectsHandler(counting, async () => object)(OBJECT_EVENT);
    } else {
      const data = readFileSync(file).toString('base64');
      await createCloudWatchHandler(counting)({ awslogs: { data } });
    }
    return { entries, error: undefined };
  } catch (error) {
    return { entries, error: (error as Error).message };
  }
}
