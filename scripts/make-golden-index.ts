/**
 * Writes test/index/golden/<version>.index and .json. Run it once when a version of the index format is
 * released, and never again for that version. Tests then verify that every later reader can read these bytes.
 *
 *     node scripts/make-golden-index.ts v1
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countsOf } from '../shared/storage/chunk/format.ts';
import { footerOf } from '../shared/storage/chunk/reader.ts';
import { writeChunk } from '../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../shared/storage/codec/compression.ts';
import { presenceOfFooter } from '../shared/storage/index/presence.ts';
import { encodeIndex } from '../shared/storage/index/write.ts';
import { type PlainEntry, rowsOf } from '../test/support/rows.ts';

const tests = join(import.meta.dirname, '../test');
const folder = join(tests, 'index/golden');
const version = process.argv[2];
if (version === undefined || existsSync(join(folder, `${version}.index`))) {
  console.error('usage: node scripts/make-golden-index.ts VERSION, for a version that has no file yet');
  process.exit(1);
}

const head = { tenant: 'golden', day: 20_412, createdMs: 1_763_600_000_000 };
const entries: PlainEntry[] = [];
for (let i = 0; i < 90; i++) {
  entries.push({
    stream:
      i % 2 === 0
        ? { app: 'audit', note: 'quoted "text"\nüber lines' }
        : { app: 'shop', service_name: 'shop', zone: 'z1' },
    time: i === 0 ? 0 : 86_399_999_999_999 - (89 - i) * 20_000_000_000,
    line: `entry ${i}`,
    metadata: i % 3 === 0 ? { detected_level: 'debug' } : {},
  });
}
const second = { ...head, id: 'fedcba9876543210fedcba9876543210', level: 1, inputs: [] };
const written = await writeChunk(second, rowsOf(entries), QUICK_COMPRESSION);
const footers = [
  footerOf(readFileSync(join(tests, 'chunk/golden/v1.chunk')), 'golden'),
  footerOf(Buffer.concat(written.parts, written.bytes), 'golden'),
];
const object = await encodeIndex({ ...head, chunks: footers.map(footer => ({ id: footer.id, footer })) });

// Uses the footers, independent of the index reader.
const byText = new Map(
  footers.flatMap(footer => footer.streams.map(stream => [stream.text, stream] as const)),
);
const streams = [...byText.values()].sort((a, b) => Buffer.compare(Buffer.from(a.text), Buffer.from(b.text)));
const chunks = footers.map(footer => {
  const { id, level, first, last, rows, lineBytes, metadataBytes, pages, levels } = footer;
  const pageBytes = pages.reduce((sum, page) => sum + page.storedBytes, 0);
  const presence = presenceOfFooter(footer);
  const indexes = [...presence.streams].map(s =>
    streams.findIndex(one => one.text === footer.streams[s].text),
  );
  const counts = { levels, counts: [...presence.streams].map(s => countsOf(footer, s)) };
  const columns = Object.entries(presence).map(([name, column]) => [name, [...column]]);
  return {
    ...{ id, level, first, last, rows, lineBytes, metadataBytes, pageBytes },
    presence: { ...Object.fromEntries(columns), streams: indexes },
    counts,
  };
});
writeFileSync(join(folder, `${version}.index`), object);
writeFileSync(join(folder, `${version}.json`), `${JSON.stringify({ ...head, streams, chunks }, null, 1)}\n`);
