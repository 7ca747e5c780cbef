/** Order of the stages of large pushes that arrive together. */
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { FairScheduler } from '../../shared/base/scheduling/fair-scheduler.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { PushService } from '../../shared/write/ingest/push.ts';
import type { Receiver } from '../../shared/write/ingest/receiver.ts';
import { NO_OBSERVER } from '../support/no-observer.ts';

const JSON_TYPE = 'application/json';
const NOW_MS = 1_760_000_000_000;
const PUSHES = 4;
const MAX_BYTES = 10_000_000;

test('a push is handed to its group before the next one is decoded', async () => {
  const stages: string[] = [];
  let nowMs = 0;
  const scheduler = new FairScheduler({ nowMs: () => nowMs });
  const service = new PushService({
    committer: {
      announce: () => () => undefined,
      commit: async (_, { columns }) => {
        stages.push(`commit ${columns.streams[0].text}`);
      },
    },
    clock: virtualClock(NOW_MS),
    observer: NO_OBSERVER,
    scheduler,
  });
  const receiver = lokiReceiver(JSON_TYPE, false);
  const push = (number: number) => {
    const text = `{"streams":[{"stream":{"a":"${number}"},"values":[["${NOW_MS}000000","x"]]}]}`;
    const body = Buffer.alloc(200_000, ' ');
    body.write(text);
    const observed: Receiver = {
      ...receiver,
      decode(bytes, context) {
        stages.push(`decode {a="${number}"}`);
        // More than a round of the event loop has, so that the next stage waits for a slice.
        nowMs += 2;
        return receiver.decode(bytes, context);
      },
    };
    const request = {
      tenant: 't',
      body,
      contentType: JSON_TYPE,
      contentEncoding: undefined,
      receiver: observed,
    };
    const limits = { ...DEFAULT_LIMITS, discoverServiceName: [] };
    return service.push(request, limits, { maxBodyBytes: MAX_BYTES, maxDecompressedBytes: MAX_BYTES });
  };
  // Other work has used this round of the event loop, so that the pushes wait.
  scheduler.charge('other', -2);
  await Promise.all(Array.from({ length: PUSHES }, (_, i) => push(i)));
  const all = Array.from({ length: PUSHES }, (_, i) => [`decode {a="${i}"}`, `commit {a="${i}"}`]);
  expect(stages).toEqual(all.flat());
});
