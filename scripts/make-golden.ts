/**
 * Writes test/chunk/golden/<version>.chunk and .json: run once when a format version is released, never again for
 * that version. The tests then hold every later reader to these bytes.
 *
 *     node scripts/make-golden.ts v1
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodePage, footerOf, type PageWants } from '../shared/storage/chunk/reader.ts';
import { writeChunk } from '../shared/storage/chunk/writer.ts';
import { PUSH_COMPRESSION } from '../shared/storage/codec/compression.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../test/support/rows.ts';

const folder = join(import.meta.dirname, '../test/chunk/golden');
const version = process.argv[2];
if (version === undefined || existsSync(join(folder, `${version}.chunk`))) {
  console.error('usage: node scripts/make-golden.ts VERSION, for a version that has no file yet');
  process.exit(1);
}

const entries: PlainEntry[] = [];
for (let i = 0; i < 400; i++) {
  const levels = ['info', 'warn', 'error'];
  entries.push({
    stream: { app: i % 3 === 0 ? 'shop' : 'billing', service_name: 'shop', zone: `z${i % 4}` },
    time: 30_000_000_000_000 + i * 1_234_567_891,
    line: i % 7 === 0 ? '' : `level=${levels[i % 3]} msg="request ${i} größe=${i * i}" took=${i % 90}ms`,
    metadata: {
      detected_level: levels[i % 3],
      ...(i % 2 === 0 ? { trace_id: (i * 2_654_435_761).toString(16) } : {}),
      ...(i % 50 === 0 ? { note: 'quoted "text"\nover lines' } : {}),
    },
  });
}
const head = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 'golden',
  day: 20_412,
  level: 0,
  createdMs: 1_763_600_000_000,
  inputs: [],
};
const { parts, bytes } = await writeChunk(head, rowsOf(entries), PUSH_COMPRESSION);
const object = Buffer.concat(parts, bytes);
const footer = footerOf(object, 'golden');
const everything: PageWants = { lines: 'bytes', metadata: 'all' };
const dayStart = BigInt(head.day) * 86_400_000_000_000n;
const back = footer.pages.flatMap(page =>
  entriesOfPage(decodePage(footer, page, object.subarray(page.offset), everything, 'golden'), dayStart),
);
writeFileSync(join(folder, `${version}.chunk`), object);
writeFileSync(
  join(folder, `${version}.json`),
  `${JSON.stringify({ ...footer, counts: [...footer.counts], entries: back }, null, 1)}\n`,
);
