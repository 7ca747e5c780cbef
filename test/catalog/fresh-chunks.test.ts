/** Chunks that are handed over to another thread: what arrives, when, and how much memory they take. */
import { serialize } from 'node:v8';
import { expect, test } from '@jest/globals';
import { recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import {
  chunksOf,
  type FreshBatch,
  FreshChunks,
  releaseBatch,
} from '../../shared/storage/catalog/fresh-chunks.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { manualClock } from '../support/manual-clock.ts';
import { rowsOf } from '../support/rows.ts';

const MIB = 1024 * 1024;
const DAY = 20_000;

/** A chunk of one page with one line of this size. */
async function chunkOf(number: number, lineBytes: number) {
  const line = `${number}`.padEnd(lineBytes, '.');
  const head = { tenant: 't', day: DAY, level: 0, createdMs: 0, inputs: [] };
  const rows = rowsOf([{ stream: { app: 'a' }, time: number, line, metadata: {} }]);
  const id = `${number}`.padStart(32, '0');
  const chunk = await writeChunk({ ...head, id }, rows, QUICK_COMPRESSION, undefined, { keepsLines: true });
  return {
    chunk,
    record: recordOf(chunk.footer, chunk.bytes, chunk.footerBytes, {
      inline: undefined,
      tail: chunk.parts.at(-1)!,
    }),
    line,
  };
}

function handOver(receiverOf: (tenant: string) => number | undefined = () => 3) {
  const clock = manualClock();
  const sent: { readonly receiver: number; readonly batch: FreshBatch }[] = [];
  const fresh = new FreshChunks({
    receiverOf,
    send: (receiver, batch) => sent.push({ receiver, batch }),
    clock,
  });
  return { clock, sent, fresh };
}

test('chunks that are written within 100 ms arrive as one message, with their bytes and lines', async () => {
  const { clock, sent, fresh } = handOver();
  const written = await Promise.all([1, 2, 3].map(number => chunkOf(number, 100_000)));
  for (const { record, chunk } of written) fresh.add(record, chunk);
  clock.advance(99);
  await Promise.resolve();
  expect(sent).toEqual([]);
  clock.advance(1);
  await Promise.resolve();
  expect(sent.map(({ receiver }) => receiver)).toEqual([3]);
  const arrived = chunksOf(sent[0].batch, clock.nowMs());
  const expected = written.map(({ record }) => ({ ...record, footer: undefined }));
  expect(arrived.map(({ record }) => record)).toEqual(expected);
  for (const [i, { object, lines }] of arrived.entries()) {
    expect(object.equals(Buffer.concat(written[i].chunk.parts))).toBe(true);
    expect(lines.toString()).toBe(written[i].line);
  }
});

test('a message with a batch has no bytes of footers, whose memory is part of a larger buffer', async () => {
  const { clock, sent, fresh } = handOver();
  const { record, chunk } = await chunkOf(1, 100_000);
  expect(record.footer!.buffer.byteLength).toBeGreaterThan(record.footer!.length);
  fresh.add(record, chunk);
  clock.advance(100);
  await Promise.resolve();
  const { memory, ...message } = sent[0].batch;
  expect(serialize(message).length).toBeLessThan(1000);
  expect(memory.buffer).toBeInstanceOf(SharedArrayBuffer);
});

test('a full batch is sent at once, and a chunk that is larger than a batch has a separate one', async () => {
  const { sent, fresh, clock } = handOver();
  const written = await Promise.all([1, 2, 3].map(number => chunkOf(number, 0.8e6)));
  const large = await chunkOf(4, 6e6);
  for (const { record, chunk } of [...written, large]) fresh.add(record, chunk);
  clock.advance(100);
  await Promise.resolve();
  const numbers = sent.map(({ batch }) => batch.chunks.map(({ record }) => Number(record.id)));
  expect(numbers).toEqual([[1, 2], [3], [4]]);
  expect(chunksOf(sent[2].batch, clock.nowMs())[0].lines.toString()).toBe(large.line);
});

test('16 MiB are under way at most: further chunks are not handed over until batches are released', async () => {
  const { sent, fresh, clock } = handOver();
  const large = await chunkOf(1, 3e6);
  for (let i = 0; i < 20; i++) fresh.add(large.record, large.chunk);
  clock.advance(100);
  await Promise.resolve();
  const bytes = () => new Set(sent.map(({ batch }) => batch.memory.buffer)).size * 4 * MIB;
  expect(sent.length).toBe(4);
  expect(bytes()).toBe(16 * MIB);
  for (const { batch } of sent) releaseBatch(batch);
  for (let i = 0; i < 20; i++) fresh.add(large.record, large.chunk);
  clock.advance(100);
  await Promise.resolve();
  expect(sent.length).toBe(8);
  expect(bytes()).toBe(16 * MIB);
});

test('only chunks of tenants that a thread queries are wanted, and no small ones', async () => {
  const { sent, fresh, clock } = handOver(tenant => (tenant === 'queried' ? 0 : undefined));
  expect(fresh.wants('queried', 64 * 1024)).toBe(true);
  expect(fresh.wants('queried', 64 * 1024 - 1)).toBe(false);
  expect(fresh.wants('t', 64 * 1024)).toBe(false);
  // The last query was too long ago when the chunk was stored.
  const { record, chunk } = await chunkOf(1, 100_000);
  fresh.add(record, chunk);
  clock.advance(100);
  await Promise.resolve();
  expect(sent).toEqual([]);
});

test('a batch that arrives after a minute is not read, because its memory may have another content', async () => {
  const { sent, fresh, clock } = handOver();
  const { record, chunk } = await chunkOf(1, 100_000);
  fresh.add(record, chunk);
  clock.advance(100);
  await Promise.resolve();
  expect(chunksOf(sent[0].batch, clock.nowMs() + 60_000)).toHaveLength(1);
  expect(chunksOf(sent[0].batch, clock.nowMs() + 60_001)).toEqual([]);
});
