import { expect, test } from '@jest/globals';
import type { EventPush, EventStore } from '../../functions/event-store.ts';
import { objectsOf } from '../../functions/s3-event.ts';
import { createS3ObjectsHandler } from '../../functions/s3-objects-handler.ts';
import { createLog } from '../../shared/base/runtime/log.ts';

/** S3's own notification, as its user guide shows it. */
const notification = (key: string, eventName = 'ObjectCreated:Put') => ({
  Records: [
    {
      eventVersion: '2.1',
      eventSource: 'aws:s3',
      awsRegion: 'eu-central-1',
      eventTime: '2026-11-21T12:00:00.000Z',
      eventName,
      s3: {
        s3SchemaVersion: '1.0',
        bucket: { name: 'logs', arn: 'arn:aws:s3:::logs' },
        object: { key, size: 3, eTag: 'd41d', versionId: 'v1', sequencer: '0A' },
      },
    },
  ],
});
const eventBridge = {
  version: '0',
  'detail-type': 'Object Created',
  source: 'aws.s3',
  detail: { version: '0', bucket: { name: 'logs' }, object: { key: 'a b+c', size: 3, 'version-id': 'v1' } },
};
const queued = (...bodies: unknown[]) => ({
  Records: bodies.map(body => ({ messageId: 'm', eventSource: 'aws:sqs', body: JSON.stringify(body) })),
});
const OBJECT = { bucket: 'logs', key: 'a b+c', versionId: 'v1' };

// [what, event, objects]
test.each([
  ['a notification', notification('a+b%2Bc'), [OBJECT]],
  ['EventBridge', eventBridge, [OBJECT]],
  ['SQS', queued(notification('a+b%2Bc'), eventBridge), [OBJECT, OBJECT]],
  ['the test of a new notification', queued({ Service: 'Amazon S3', Event: 's3:TestEvent' }), []],
  ['a deletion', notification('a', 'ObjectRemoved:Delete'), []],
])('%s', (_, event, want) => {
  expect(objectsOf(event)).toEqual(want);
});

test.each([
  [null],
  [{}],
  [{ Records: [{ eventSource: 'aws:sns' }] }],
  [{ Records: [{ eventSource: 'aws:sqs', body: '{' }] }],
  [queued(queued(eventBridge))],
  [{ source: 'aws.s3', 'detail-type': 'Object Created' }],
])('%j is not an event', wrong => {
  expect(() => objectsOf(wrong)).toThrow('this function accepts events of S3');
});

function recorder() {
  const pushes: EventPush[] = [];
  const store: EventStore = {
    labels: [],
    log: createLog('silent'),
    ownBucket: 'chunks',
    push: async push => pushes.push(push),
  };
  return { pushes, store };
}

test('an object is read and pushed, batch by batch', async () => {
  const { pushes, store } = recorder();
  const line = Buffer.from(`${'x'.repeat(99)}\n`);
  async function* body() {
    for (let i = 0; i < 50_000; i++) yield line;
  }
  const handler = createS3ObjectsHandler(store, async location => {
    expect(location).toEqual(OBJECT);
    return { lastModifiedMs: 1, body: body() };
  });
  await handler(eventBridge);
  expect(pushes.map(({ body }) => body.length)).toEqual([1_889_300, 1_889_300, 1_221_400]);
  expect(new Set(pushes.map(({ source }) => source)).size).toBe(3);
});

test('a missing object is not an error; the bucket of the chunks and a failing read are', async () => {
  const { pushes, store } = recorder();
  await createS3ObjectsHandler(store, async () => undefined)(eventBridge);
  expect(pushes).toEqual([]);
  const own = createS3ObjectsHandler({ ...store, ownBucket: 'logs' }, async () => undefined);
  await expect(own(eventBridge)).rejects.toThrow('the event is about the bucket of the chunks');
  const failing = createS3ObjectsHandler(store, () => Promise.reject(new Error('no access')));
  await expect(failing(eventBridge)).rejects.toThrow('no access');
});
