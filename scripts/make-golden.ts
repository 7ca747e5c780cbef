/**
 * Writes test/chunk/golden/<version>.chunk and .json. Run it once when a format version is released, and
 * never again for that version. Tests then verify that every later reader can read these bytes.
 *
 *     node scripts/make-golden.ts v4
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChunkAssembler } from '../shared/storage/chunk/chunk-assembler.ts';
import { decodePage, footerOf, type PageWants } from '../shared/storage/chunk/reader.ts';
import { withDecodedColumns } from '../shared/storage/chunk/stored-page.ts';
import { COMPACTION_COMPRESSION } from '../shared/storage/codec/compression.ts';
import { chunkIndexers } from '../shared/upkeep/indexing/index-chunk.ts';
import { fieldsOfObject } from '../test/chunk/indexed.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../test/support/rows.ts';

const folder = join(import.meta.dirname, '../test/chunk/golden');
const version = process.argv[2];
if (version === undefined || existsSync(join(folder, `${version}.chunk`))) {
  console.error('usage: node scripts/make-golden.ts VERSION, for a version that has no file yet');
  process.exit(1);
}

/** Page size: all pages except the last are split; the last is too small. */
const PAGE_BYTES = 80 * 1024;

const DAY = 20_412;
/** Time of day of an entry, ns. Lines show it: JSON and logfmt in UTC, the others in the time of Nepal. */
const timeOf = (i: number) => 30_000_000_000_000 + i * 1_234_567_891;
const shownTime = (i: number, zoneMs = 0) =>
  new Date(DAY * 86_400_000 + Math.floor(timeOf(i) / 1e6) + zoneMs).toISOString();

function lineOf(i: number): string {
  const level = ['info', 'warn', 'error'][i % 3];
  const trace = (BigInt(i + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n)
    .toString(16)
    .padStart(33, '0')
    .slice(-32);
  const uuid = trace.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  if (i % 97 === 5) return '';
  if (i % 97 === 7) return `\0\u0001 größe "${i}`;
  if (i % 4 === 0)
    return `${shownTime(i, 20_700_000).replace('Z', '+05:45')} 10.0.${i % 256}.7 - "GET /items/${i}?x=${i * i} HTTP/1.1" 200 ${'-'.repeat(90)}`;
  if (i % 4 === 1)
    return `ts=${shownTime(i)} level=${level} msg="request ${i} größe=${i * i}" took=${(i % 90) / 8}ms ratio=${(i - 99.5).toFixed(3)} id=${uuid} padding=${'x'.repeat(60)}`;
  return `{"ts":"${shownTime(i)}","level":"${level}","status":${200 + (i % 5)},"delta":${50 - i},"trace":"${trace}","o":{"k":[${i},null]},"text":"${'a\\"b '.repeat(i % 7)}","constant":"${'y'.repeat(60)}"}`;
}

const entries: PlainEntry[] = Array.from(
  { length: 600 },
  (_, i): PlainEntry => ({
    stream: { app: i % 3 === 0 ? 'shop' : 'billing', service_name: 'shop' },
    time: timeOf(i),
    line: lineOf(i),
    metadata: i % 2 === 0 ? { detected_level: ['info', 'warn', 'error'][i % 3] } : {},
  }),
);
const head = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 'golden',
  day: DAY,
  level: 2,
  createdMs: 1_763_600_000_000,
  inputs: [],
};
const assembler = new ChunkAssembler(COMPACTION_COMPRESSION, chunkIndexers(0)(), PAGE_BYTES);
await assembler.add(rowsOf(entries), { last: true });
const { parts, bytes } = await assembler.finish(head);
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
  `${JSON.stringify({ ...footer, pages: footer.pages.map(withDecodedColumns), counts: [...footer.counts], fields: fieldsOfObject(object, footer), entries: back }, null, 1)}\n`,
);
