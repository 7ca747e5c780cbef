/**
 * Sizes and times of one page in every form. Throws if a form does not decode to exactly the page's bytes.
 */
import { constants } from 'node:zlib';
import {
  COMPACTION_COMPRESSION,
  type Compression,
  PUSH_COMPRESSION,
} from '../../shared/storage/codec/compression.ts';
import { ZstdDecoder } from '../../shared/storage/codec/zstd-decoder.ts';
import { ZstdSyncEncoder } from '../../shared/storage/codec/zstd-sync-encoder.ts';
import type { ColumnTextKernel } from './column-text-kernel.ts';
import { type ColumnType, unpackColumn } from './column-types.ts';
import { joinPage } from './join.ts';
import type { JoinKernel } from './join-kernel.ts';
import type { Page } from './pages.ts';
import { splitPage } from './split.ts';
import { blocksOf, byType, frameOf, typedColumns } from './stored-page.ts';

const level = (number: number): Compression => ({ [constants.ZSTD_c_compressionLevel]: number });

/** zstd settings for whole lines: that of pushes, that of merges, and others. */
const SETTINGS = {
  1: PUSH_COMPRESSION,
  3: level(3),
  6: level(6),
  9: level(9),
  merge: COMPACTION_COMPRESSION,
} satisfies Record<string, Compression>;
type Setting = keyof typeof SETTINGS;

/** Twice a page's lines: the maximum of a page with one long line. */
const MAX_BLOCK_BYTES = 4 * 1024 * 1024;
const ENCODERS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, setting]) => [name, new ZstdSyncEncoder(setting, MAX_BLOCK_BYTES)]),
) as Record<Setting, ZstdSyncEncoder>;
const DECODER = new ZstdDecoder();

interface TypeFigures {
  readonly type: ColumnType;
  readonly values: number;
  readonly rawBytes: number;
  /** Text and typed columns at zstd level 1, and at the setting of merges. */
  readonly text1: number;
  readonly typed1: number;
  readonly textMerge: number;
  readonly typedMerge: number;
}

export interface PageFigures {
  readonly rawBytes: number;
  readonly rows: number;
  readonly plainRows: number;
  readonly templates: number;
  readonly templateBytes: number;
  readonly columns: number;
  /** Bytes before zstd. */
  readonly splitBytes: number;
  /** Trial on the first rows of the page: bytes of the lines at level 1, and of the split. */
  readonly trial: readonly [lines: number, split: number];
  /**
   * Stored bytes by form, and CPU milliseconds: the minimum of several runs, because other processes use the
   * machine.
   */
  readonly sizes: Readonly<Record<string, number>>;
  readonly times: Readonly<Record<string, number>>;
  readonly types: readonly TypeFigures[];
}

interface Kernels {
  readonly join: JoinKernel;
  readonly columnText: ColumnTextKernel;
}

export function measurePage(page: Page, kernels: Kernels, runs: number): PageFigures {
  const sizes: Record<string, number> = {};
  const times: Record<string, number> = {};
  const timed = <T>(name: string, work: () => T): T => {
    let result = work();
    for (let run = 0; run < runs; run++) {
      const start = process.cpuUsage();
      result = work();
      const { user, system } = process.cpuUsage(start);
      times[name] = Math.min(times[name] ?? Infinity, (user + system) / 1000);
    }
    return result;
  };
  /** Compresses and decompresses blocks under a name. */
  const stored = (name: string, setting: Setting, blocks: readonly Buffer[]) => {
    const used = blocks.filter(block => block.length > 0);
    const packed = timed(name, () => used.map(block => ENCODERS[setting].pack(block)));
    sizes[name] = packed.reduce((sum, block) => sum + block.length, 0);
    timed(`${name} unpacked`, () => {
      for (const [i, block] of packed.entries()) {
        if (DECODER.unpack(block, used[i].length).length !== used[i].length)
          throw new Error(`${name}: a short block`);
      }
    });
  };

  for (const setting of Object.keys(SETTINGS) as Setting[]) stored(`plain ${setting}`, setting, [page.lines]);

  const split = timed('split', () => splitPage(page));
  const frame = frameOf(split);
  const text = Buffer.concat([frame, ...split.columns]);
  const columns = timed('types', () => typedColumns(split));
  const untyped = timed('types undone', () => columns.map(unpackColumn));
  columns.forEach((column, i) => {
    if (!untyped[i].equals(split.columns[i]))
      throw new Error(`a column of type ${column.type} reads back otherwise`);
  });
  const others = columns.flatMap((column, i) => (column.type === 'text' ? [] : [i]));
  const laidColumns = timed('types laid', () =>
    kernels.columnText.lay(
      others.map(i => columns[i]),
      others.map(i => split.columns[i].length),
    ),
  );
  timed('types undone, kernel', () => laidColumns.toText()).forEach((bytes, i) => {
    if (!split.columns[others[i]].equals(bytes))
      throw new Error(`the kernel reads a column of type ${columns[others[i]].type} back otherwise`);
  });
  const typed = Buffer.concat([frame, ...columns.map(column => column.bytes)]);
  const blocks = [frame, ...blocksOf(columns.map(column => column.bytes))];
  for (const setting of ['1', '3', 'merge'] as const) {
    const key = setting as Setting;
    stored(`text ${setting}`, key, [text]);
    stored(`typed ${setting}`, key, [typed]);
    stored(`blocks ${setting}`, key, blocks);
  }

  const check = (what: string, joined: Uint8Array) => {
    if (!page.lines.equals(joined)) throw new Error(`${what}: other lines than were split`);
  };
  check(
    'join',
    timed('join', () => joinPage(split, page.lines.length)),
  );
  const every = new Uint8Array(page.rows).fill(1);
  const laid = timed('join laid', () => kernels.join.lay(split, every, page.lines.length));
  check(
    'join kernel',
    timed('join kernel', () => laid.join()),
  );
  const few = Uint8Array.from({ length: page.rows }, (_, row) => (row % 100 === 0 ? 1 : 0));
  const fewLaid = kernels.join.lay(split, few, page.lines.length);
  const wanted = Array.from({ length: Math.ceil(page.rows / 100) }, (_, i) =>
    page.lines.subarray(page.offsets[i * 100], page.offsets[i * 100 + 1]),
  );
  if (!Buffer.concat(wanted).equals(timed('join kernel 1%', () => fewLaid.join())))
    throw new Error('other rows than wanted');

  return {
    rawBytes: page.lines.length,
    rows: page.rows,
    plainRows: split.plainLengths.length,
    templates: split.templates.length,
    templateBytes: split.templates.reduce((sum, template) => sum + template.text.length, 0),
    columns: columns.length,
    splitBytes: typed.length,
    trial: trialOf(page),
    sizes,
    times,
    types: byType(split, columns).map(({ type, values, text: asText, typed: asTyped }) => ({
      type,
      values,
      rawBytes: asText.length,
      text1: ENCODERS[1].pack(asText).length,
      typed1: ENCODERS[1].pack(asTyped).length,
      textMerge: ENCODERS.merge.pack(asText).length,
      typedMerge: ENCODERS.merge.pack(asTyped).length,
    })),
  };
}

/** Bytes of a page that are tried both ways. */
const TRIAL_BYTES = 128 * 1024;

function trialOf(page: Page): [number, number] {
  let rows = 1;
  while (rows < page.rows && page.offsets[rows] < TRIAL_BYTES) rows++;
  const first = {
    lines: page.lines.subarray(0, page.offsets[rows]),
    offsets: page.offsets.subarray(0, rows + 1),
    rows,
  };
  const split = splitPage(first);
  const typed = Buffer.concat([frameOf(split), ...typedColumns(split).map(column => column.bytes)]);
  return [ENCODERS[1].pack(first.lines).length, ENCODERS[1].pack(typed).length];
}
