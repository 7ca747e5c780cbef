/**
 * CPU time per byte of the kernels and their callers (shared/base/kernels), page by page of the corpus. For
 * reliable figures, process at least 1 GB per case: one run is about 16 MB.
 */
import { crc32 } from 'node:zlib';
import { SplitPage } from '../../shared/base/kernels/join-lines.ts';
import { levelsOfLines } from '../../shared/base/kernels/line-levels.ts';
import { createLineMemory, lineSpace } from '../../shared/base/kernels/line-memory.ts';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import { TermSet } from '../../shared/base/kernels/term-set.ts';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { decodeOffsets, encodeLengths } from '../../shared/storage/chunk/length-column.ts';
import { decodeTimes, encodeTimes } from '../../shared/storage/chunk/time-column.ts';
import { FieldExtractor } from '../../shared/storage/columns/field-extractor.ts';
import { RowHasher } from '../../shared/upkeep/compaction/fingerprint.ts';
import { PatternBuilder } from '../../shared/upkeep/pattern-mining/pattern-builder.ts';
import { levelFields } from '../../shared/write/ingest/level-fields.ts';
import { pageOf } from '../../test/patterns/quality.ts';
import { generateBatches } from '../corpus.ts';
import type { StageCase } from './index.ts';

const PAGE_BYTES = 1024 * 1024;
const PAGES = 16;
const KINDS = ['json', 'logfmt', 'access'] as const;

/** Pages of lines of one kind, and of all kinds as the corpus mixes them. Lines are where the decoder puts them. */
function pagesOf(kind: string): PageRows[] {
  const memory = createLineMemory((PAGES + 1) * PAGE_BYTES);
  let end = 0;
  const labels = labelsOf({ app: kind });
  const stream = { labels, text: formatLabels(labels) };
  const pages: PageRows[] = [];
  let lines: { line: string }[] = [];
  let bytes = 0;
  for (const batch of generateBatches(kind === 'mixed' ? PAGES + 1 : 5 * PAGES)) {
    for (const { labels: of, entries } of batch.streams) {
      if (kind !== 'mixed' && !of.app.startsWith(kind)) continue;
      for (const { line } of entries) {
        lines.push({ line });
        bytes += line.length;
        if (bytes < PAGE_BYTES) continue;
        const { lineOffsets, lines: text } = pageOf(lines);
        const rows = lines.length;
        text.copy(memory, end);
        // Timestamps in nanoseconds, a few thousand lines per second.
        const times = Float64Array.from({ length: rows }, (_, i) => i * 312_345 + ((i * 7919) % 211_117));
        pages.push({
          rows,
          baseNs: 0n,
          times,
          lines: memory.subarray(end, end + text.length),
          lineOffsets,
          runs: [{ stream, firstRow: 0, rows }],
          metadata: [],
        });
        if (pages.length === PAGES) return pages;
        end += text.length;
        lines = [];
        bytes = 0;
      }
    }
  }
  return pages;
}

function sizeOf(pages: readonly PageRows[]) {
  return {
    bytes: pages.reduce((sum, page) => sum + page.lines.length, 0),
    lines: pages.reduce((sum, page) => sum + page.rows, 0),
  };
}

function perPage(name: string, pages: readonly PageRows[], work: (page: PageRows) => unknown): StageCase {
  return {
    name,
    ...sizeOf(pages),
    run() {
      for (const page of pages) work(page);
    },
  };
}

const fields = levelFields(DEFAULT_LIMITS.logLevelFields);
const allRows = Uint32Array.from({ length: 65_536 }, (_, row) => row);
const terms = new TermSet();
const extractor = new FieldExtractor();
const hasher = new RowHasher();

const forAll: readonly (readonly [string, (page: PageRows) => unknown])[] = [
  [
    'text-index terms',
    ({ lines, lineOffsets, rows }) => {
      terms.clear();
      terms.addLines(lines, lineOffsets, rows);
    },
  ],
  ['members', ({ lines, lineOffsets, rows }) => extractor.extract(lines as Buffer, lineOffsets, rows)],
  [
    'levels',
    ({ lines, lineOffsets, rows }) => {
      levelsOfLines(
        { bytes: lines, starts: lineOffsets, ends: lineOffsets.subarray(1) },
        allRows.subarray(0, rows),
        fields,
        DEFAULT_LIMITS.logLevelFromJsonMaxDepth,
      );
    },
  ],
  ['row hashes', page => hasher.hash(page)],
  ['split into templates', page => splitLines(page)],
  ['joined from templates', page => joinLines(page)],
];

const splits = new WeakMap<PageRows, Buffer>();

/** Runs without zstd. A page is split in its first run, the warm-up. */
function joinLines(page: PageRows): void {
  let bytes = splits.get(page);
  if (bytes === undefined) {
    const split = splitLines(page);
    if (split === undefined) throw new Error('a page of the corpus has too many templates');
    bytes = Buffer.concat([split.frame, split.columns]);
    splits.set(page, bytes);
  }
  const room = new SplitPage(bytes.length, lineSpace().subarray(0, page.lines.length));
  bytes.copy(room.bytes);
  if (!room.open(page.rows) || !room.join(page.lineOffsets)) throw new Error('a split page does not join');
}

const mixed = pagesOf('mixed');
const encodedTimes = mixed.map(({ times, rows }) => {
  const starts = new Uint8Array(rows);
  starts[0] = 1;
  return { starts, encoded: encodeTimes(times, rows, starts) };
});
const encodedLengths = mixed.map(({ lineOffsets, rows }) => {
  const lengths = Uint32Array.from({ length: rows }, (_, i) => lineOffsets[i + 1] - lineOffsets[i]);
  return { lengths, encoded: Buffer.from(encodeLengths(lengths, rows)) };
});

function perMixedPage(name: string, work: (page: PageRows, index: number) => unknown): StageCase {
  return {
    name,
    ...sizeOf(mixed),
    run() {
      for (const [i, page] of mixed.entries()) work(page, i);
    },
  };
}

export const cases: StageCase[] = [
  ...KINDS.map(kind => [kind, pagesOf(kind)] as const).flatMap(([kind, pages]) =>
    forAll.map(([name, work]) => perPage(`${name}, ${kind}`, pages, work)),
  ),
  ...forAll.map(([name, work]) => perPage(`${name}, mixed`, mixed, work)),
  {
    name: 'patterns, mixed',
    ...sizeOf(mixed),
    run() {
      const builder = new PatternBuilder();
      for (const { lines, lineOffsets, runs, times, rows } of mixed)
        builder.addPage({
          lines: lines as Buffer,
          lineOffsets,
          runs,
          times,
          base: 0,
          levels: new Uint8Array(rows),
        });
    },
  },
  perPage("zlib's crc32, mixed", mixed, ({ lines }) => crc32(lines)),
  perMixedPage('times written, mixed', ({ times, rows }, i) =>
    encodeTimes(times, rows, encodedTimes[i].starts),
  ),
  perMixedPage('times read, mixed', ({ rows }, i) => {
    const { high, low, scale } = encodedTimes[i].encoded;
    decodeTimes({ high: high as Buffer, low: low as Buffer, scale }, rows, [0], 'bench');
  }),
  perMixedPage('lengths written, mixed', ({ rows }, i) => encodeLengths(encodedLengths[i].lengths, rows)),
  perMixedPage('lengths read, mixed', ({ rows, lines }, i) =>
    decodeOffsets(encodedLengths[i].encoded, rows, lines.length, 'bench'),
  ),
];
