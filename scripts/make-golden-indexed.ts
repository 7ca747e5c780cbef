/**
 * Writes test/chunk/golden/<name>.chunk and .json of an object with field columns, residual fields, a text
 * index and page summaries. Run it once when one of them changes its version, and never again for that
 * version. Tests then verify that every later reader can read these bytes.
 *
 *     node scripts/make-golden-indexed.ts v5-enriched
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FieldColumnWriter } from '../shared/execution/fields/field-column-writer.ts';
import { FilterBuilder } from '../shared/execution/text-index/filter-builder.ts';
import { summariesOf } from '../shared/execution/text-index/page-summary.ts';
import { SummaryWriter } from '../shared/execution/text-index/summary-codec.ts';
import { ColumnKind, SectionKind } from '../shared/storage/chunk/format.ts';
import { decodePage, footerOf } from '../shared/storage/chunk/reader.ts';
import { writeChunk } from '../shared/storage/chunk/writer.ts';
import { PUSH_COMPRESSION, QUICK_COMPRESSION } from '../shared/storage/codec/compression.ts';
import { fieldKey } from '../shared/storage/columns/column-field.ts';
import {
  columnsOf,
  encodeResiduals,
  mayHaveField,
  mayHaveMetadata,
  mayHold,
  summariesOfObject,
} from '../test/chunk/indexed.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../test/support/rows.ts';

const folder = join(import.meta.dirname, '../test/chunk/golden');
const name = process.argv[2];
if (name === undefined || existsSync(join(folder, `${name}.chunk`))) {
  console.error('usage: node scripts/make-golden-indexed.ts NAME, one that has no file yet');
  process.exit(1);
}

/** Time in every fourth JSON line that has no `größe`. */
function ownTime(i: number): string {
  return new Date(Math.floor((i * 1_000_000_007) / 1e6)).toISOString().slice(11, 23);
}

// JSON, and words with few pairs, each with its own residual fields. So the page has no summaries, which the
// object of version 2 has; that of version 1 also has logfmt.
const entries = Array.from({ length: 240 }, (_, i): PlainEntry => {
  const level = ['info', 'warn', 'error'][i % 3];
  const id = ((i + 1) * 2_654_435_761).toString(16);
  const at = i % 4 === 1 ? `,"at":"2025-11-20T${ownTime(i)}Z"` : '';
  const end = i % 2 === 0 ? `,"größe":${i % 9 === 0 ? '[1]' : `"${i % 6}"`}` : `,"msg":"sold ${i % 7}"${at}`;
  const words = `GET /a?b=${i} took=${i % 3}ms "${id}"`;
  return {
    stream: { app: i % 2 === 0 ? 'shop' : 'billing', zone: `z${i % 4}` },
    time: i * 1_000_000_007,
    line:
      i % 4 === 3
        ? words
        : i === 1
          ? '{"status":200,"level":"info'
          : `{"level":"${level}","status":${200 + (i % 5)},"took":${(i * 37) / 8},"wait":"${i}.5ms","id":"${id}"${end}}`,
    metadata: i % 2 === 0 ? { request: `r-${i}`, zone: `z${i % 3}` } : {},
  };
});
const head = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 'golden',
  day: 20_412,
  level: 2,
  createdMs: 1_763_600_000_000,
  inputs: ['00112233445566778899aabbccddeeff'],
};
const filters = new FilterBuilder();
const summaries = new SummaryWriter();
const fieldWriter = new FieldColumnWriter({
  compression: QUICK_COMPRESSION,
  maxShare: 1,
  maxRowBytes: 20,
  maxResidualShare: Infinity,
  maxUnknownShare: 1,
});
const { parts, bytes } = await writeChunk(head, rowsOf(entries), PUSH_COMPRESSION, {
  page(lines, lineOffsets, rows, metadata, { input, from }) {
    const times = input.times.subarray(from, from + rows);
    const { columns: found, residuals: foundResiduals } = fieldWriter.blocksOf(lines, lineOffsets, rows, {
      times,
    });
    filters.addPage(lines, lineOffsets, rows, { fields: fieldWriter.fields, metadata, maxBytes: 4096 });
    summaries.addPage(summariesOf(fieldWriter.cells));
    return [
      ...found.map(column => ({ name: fieldKey(column.field), bytes: column.bytes })),
      ...(foundResiduals === undefined
        ? []
        : [{ kind: ColumnKind.residuals, name: '', bytes: foundResiduals }]),
    ];
  },
  finish: () => [
    { kind: SectionKind.filter, bytes: filters.finish() },
    { kind: SectionKind.summaries, bytes: summaries.finish() },
  ],
});
const object = Buffer.concat(parts, bytes);
const footer = footerOf(object, 'golden');
const needles = ['error', 'nowhere', 'sold 3', 'stack trace', '"id":"9e3779b1"', 'id=13c6ef362', 'STATUS'];
const filter = Object.fromEntries(needles.map(needle => [needle, mayHold(object, footer, needle)]));
const columns = columnsOf(object, footer);
const residuals = encodeResiduals(object, footer);
const dayStart = BigInt(head.day) * 86_400_000_000_000n;
const wants = { lines: 'bytes', metadata: 'all' } as const;
const stored = footer.pages.flatMap(page =>
  entriesOfPage(decodePage(footer, page, object.subarray(page.offset), wants, 'golden'), dayStart),
);
const requests = Object.fromEntries(
  ['r-0', 'r-7', 'r-238', 'r-240', 'nowhere'].map(value => [
    value,
    mayHaveMetadata(object, footer, 'request', value),
  ]),
);
const statuses = Object.fromEntries(
  ['200', '204', '503'].map(value => [value, mayHaveField(object, footer, 'status', value)]),
);
const summed = summariesOfObject(object, footer);
writeFileSync(join(folder, `${name}.chunk`), object);
writeFileSync(
  join(folder, `${name}.json`),
  `${JSON.stringify(
    { entries: stored, filter, columns, rests: residuals, requests, statuses, summaries: summed },
    null,
    1,
  )}\n`,
);
