/** Side effects of push processing in addition to storing. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ClientError } from '../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { PushBudget } from '../../shared/write/ingest/push-budget.ts';
import { PushWork } from '../../shared/write/ingest/push-work.ts';

const MIB = 1024 * 1024;
const NOW_MS = 1_760_000_000_000;
const BODY_LIMITS = { maxBodyBytes: 100 * MIB, maxDecompressedBytes: 100 * MIB };

/** A push of one line in a body of this size. */
function bodyOf(bytes: number): Buffer {
  const body = Buffer.alloc(bytes, ' ');
  body.write(`{"streams":[{"stream":{"a":"b"},"values":[["${NOW_MS}000000","x"]]}]}`);
  return body;
}

function workOf(budget: PushBudget, onLargeEnd: () => void, commit: () => Promise<void>) {
  const work = new PushWork({
    committer: { announce: () => () => undefined, commit },
    clock: virtualClock(NOW_MS),
    observer: { refused() {}, received() {} },
    budget,
    onLargeEnd,
  });
  return (bytes: number) =>
    work.push(
      {
        tenant: 'a',
        body: bodyOf(bytes),
        contentType: 'application/json',
        contentEncoding: undefined,
        receiver: lokiReceiver('application/json', false),
      },
      DEFAULT_LIMITS,
      BODY_LIMITS,
    );
}

test('reports the end of a large push when nothing references it', async () => {
  let collections = 0;
  const push = workOf(
    new PushBudget(),
    () => collections++,
    async () => undefined,
  );
  expect((await push(33 * MIB)).isWhole).toBe(true);
  expect(collections).toBe(0);
  await nextRound();
  expect(collections).toBe(1);
  await push(MIB);
  await nextRound();
  expect(collections).toBe(1);
});

test('an uncompressed body counts until it is stored', async () => {
  const budget = new PushBudget();
  const held: number[] = [];
  const push = workOf(
    budget,
    () => undefined,
    async () => void held.push(budget.figures.bytes),
  );
  await push(5 * MIB);
  expect(held).toEqual([expect.any(Number)]);
  expect(held[0]).toBeGreaterThanOrEqual(5 * MIB);
  expect(budget.figures.bytes).toBe(0);
});

test('frees the content of a push that is refused after decoding', async () => {
  const content = Buffer.from(new ArrayBuffer(2 * MIB)).fill(' ');
  content.write('{"streams":[]}');
  const receiver = lokiReceiver('application/json', false);
  const work = new PushWork({
    committer: { announce: () => () => undefined, commit: async () => undefined },
    clock: virtualClock(NOW_MS),
    observer: { refused() {}, received() {} },
  });
  const outcome = work.push(
    {
      tenant: 'a',
      body: Buffer.alloc(10),
      contentType: 'application/json',
      contentEncoding: undefined,
      receiver: { ...receiver, unpack: () => content },
    },
    DEFAULT_LIMITS,
    BODY_LIMITS,
  );
  await expect(outcome).rejects.toThrow(ClientError);
  expect(content).toHaveLength(0);
});
