import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import { atOnce } from '../../../shared/base/model/steps.ts';
import { hashOfText } from '../../../shared/base/model/text-hash.ts';
import { acceptPush } from '../../../shared/write/ingest/accept.ts';
import { decodeJsonPush } from '../../../shared/write/ingest/json-push.ts';
import { ALL, admitBy, type RequestedRate } from '../../../shared/write/ingest/rates/rate-decision.ts';

test('the streams of a request for a decision are in one memory, which a message copies once', async () => {
  const values = [['1700000000000000000', 'line']];
  const streams = ['a', 'b'].map(app => ({ stream: { app }, values }));
  const columns = atOnce(decodeJsonPush(Buffer.from(JSON.stringify({ streams }))));
  const limits = { ...DEFAULT_LIMITS, rejectOldSamples: false, discoverServiceName: [] };
  const result = atOnce(acceptPush(columns, { tenant: 't', limits, nowNs: 1_700_000_000_000_000_000n }));
  const asked: RequestedRate[] = [];
  await admitBy('t', result, async rate => {
    asked.push(rate);
    return ALL;
  });
  const [{ indexes, hashes, bytesOf }] = asked;
  expect([[...indexes], [...hashes], [...bytesOf]]).toEqual([
    [0, 1],
    [hashOfText('{app="a"}'), hashOfText('{app="b"}')],
    [4, 4],
  ]);
  expect(new Set([indexes.buffer, hashes.buffer, bytesOf.buffer]).size).toBe(1);
});
