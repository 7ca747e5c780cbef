/** Filters over a few pages, queried in memory, and random lines with the parts that terms are made of. */
import fc from 'fast-check';
import { FilterBuilder } from '../../shared/execution/text-index/filter-builder.ts';
import {
  decodeHeader,
  maxHeaderBytes,
  rangeOfUnit,
} from '../../shared/execution/text-index/filter-layout.ts';
import { probePages, unitsOf } from '../../shared/execution/text-index/filter-reader.ts';
import type { PruningPredicate } from '../../shared/execution/text-index/pruning-predicate.ts';
import { FieldExtractor } from '../../shared/storage/columns/field-extractor.ts';

type Lines = readonly (string | Buffer)[];

function bytesOf(line: string | Buffer): Buffer {
  return typeof line === 'string' ? Buffer.from(line) : line;
}

export function pageOf(lines: Lines): { lines: Buffer; lineOffsets: Uint32Array } {
  const buffers = lines.map(bytesOf);
  const lineOffsets = new Uint32Array(buffers.length + 1);
  for (const [i, buffer] of buffers.entries()) lineOffsets[i + 1] = lineOffsets[i] + buffer.length;
  return { lines: Buffer.concat(buffers), lineOffsets };
}

const extractor = new FieldExtractor();

export function buildSection(pages: readonly Lines[], maxBytes?: number): Buffer {
  const builder = new FilterBuilder();
  for (const page of pages) {
    const { lines, lineOffsets } = pageOf(page);
    const fields = extractor.extract(lines, lineOffsets, page.length);
    builder.addPage(lines, lineOffsets, page.length, { fields, maxBytes });
  }
  return builder.finish();
}

/** Queries a section as a reader of ranges does: only the named units are available. */
export function ask(section: Buffer, pages: number, requirement: PruningPredicate): boolean[] {
  const index = decodeHeader(section.subarray(0, maxHeaderBytes(pages)), pages);
  const units = new Map<number, Buffer>();
  for (const unit of unitsOf(index, requirement)) {
    const { offset, bytes } = rangeOfUnit(index, unit);
    units.set(unit, section.subarray(offset, offset + bytes));
  }
  return [...probePages(index, requirement, units)].map(bit => bit === 1);
}

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map(digits => digits.join(''));

const words = [
  'connection',
  'refused',
  'timeout',
  'Task',
  'KEYS',
  'sSkK',
  'ta\u017fk',
  '\u212aey\u017f',
  'café',
  'ошибка',
  '接続エラー',
  'error',
  'level=',
  'dead',
  'lock',
];

const separators = [' ', '"', '":"', '=', '.', '/', '-', '_', ', ', '\n', '\\', 'x', '7', '\ufffd', ''];

/** One part of a line: a word, a number, an ID, an address, or the text between them. */
export const piece: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(...separators),
  fc.nat({ max: 99_999_999 }).map(String),
  fc.tuple(hex(8), hex(4), hex(12)).map(parts => parts.join('-')),
  fc.integer({ min: 5, max: 40 }).chain(hex),
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map(numbers => numbers.join('.')),
);

/** Bytes of some parts; sometimes broken in the middle of a character, or any bytes at all. */
export const line: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(piece, { minLength: 1, maxLength: 10 }).map(parts => Buffer.from(parts.join(''))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(piece, { minLength: 1, maxLength: 6 }), fc.nat(40), fc.nat(255))
      .map(([parts, at, byte]) => {
        const bytes = Buffer.from(parts.join(''));
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return bytes;
      }),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)) },
);

export const pages: fc.Arbitrary<Buffer[][]> = fc.array(fc.array(line, { maxLength: 4 }), {
  minLength: 1,
  maxLength: 3,
});

interface Cut {
  readonly page: number;
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

/** Bounds of a needle, as shares of the text. */
export const cut: fc.Arbitrary<Cut> = fc.record({
  page: fc.nat(1_000),
  row: fc.nat(1_000),
  from: fc.nat(1_000),
  to: fc.nat(1_000),
});

/** A needle that is in some line of the pages. */
export function cutFrom(lines: readonly Buffer[][], { page, row, from, to }: Cut): Buffer {
  const chosen = lines[page % lines.length];
  if (chosen.length === 0) return Buffer.alloc(0);
  const bytes = chosen[row % chosen.length];
  const a = from % (bytes.length + 1);
  const b = to % (bytes.length + 1);
  return bytes.subarray(Math.min(a, b), Math.max(a, b));
}
