import { expect, test } from '@jest/globals';
import { backfillShard } from '../../shared/server/http/backfill-shard.ts';
import { messageThrown } from './request.ts';

const HEADER = 'x-loki-backfill-shard';
const sent = (bytes: Buffer) => ({ [HEADER]: bytes.toString('latin1') });

test('the backfill shard may be absent, empty or set', () => {
  expect(backfillShard({})).toBeUndefined();
  expect(backfillShard({ [HEADER]: '' })).toBeUndefined();
  expect(backfillShard({ [HEADER]: '2026-06-10' })).toBe('2026-06-10');
  expect(backfillShard(sent(Buffer.from('é'.repeat(64))))).toBe('é'.repeat(64));
});

test('a backfill shard that is too long or not text is refused', () => {
  expect(messageThrown(() => backfillShard(sent(Buffer.from('é'.repeat(65)))))).toBe(
    'invalid X-Loki-Backfill-Shard header: value length 130 exceeds limit of 128',
  );
  expect(messageThrown(() => backfillShard(sent(Buffer.from([0x61, 0xff]))))).toBe(
    'invalid X-Loki-Backfill-Shard header "a\ufffd": must be a valid label value',
  );
});
