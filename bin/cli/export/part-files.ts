/** Writes the files of one part of an export: one, or several for Parquet, whose rows must fit into memory. */

import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatLabels, labelsOf } from '../../../shared/base/model/labels.ts';
import { HivePaths } from '../../../shared/server/open-data/hive-path.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import { csvText } from '../table-text.ts';
import { nanosecondText } from '../time-text.ts';
import { entriesOf } from './column-entries.ts';
import type { ExportedBytes, WireFormat } from './export-source.ts';

type TextFormat = 'text' | 'jsonl' | 'csv';
export type ExportFormat = TextFormat | 'parquet';

export const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  text: 'log',
  jsonl: 'jsonl',
  csv: 'csv',
  parquet: 'parquet',
};

export interface PartTarget {
  readonly folder: string;
  /** File name without extension: the start of the part. */
  readonly name: string;
  readonly format: ExportFormat;
  /** Tenant for Hive folders; undefined puts all files into one folder. */
  readonly hiveTenant?: string;
  /** Called before Parquet files get their names, which depend on the entries. */
  readonly onFiles?: (files: readonly string[]) => void;
}

/** Maximum rows and characters in memory before Parquet files are written: about 100 MB. */
const MAX_HELD_ROWS = 100_000;
const MAX_HELD_CHARACTERS = 32_000_000;

export interface WrittenPart {
  readonly entries: number;
  /** Paths relative to the folder, in order. */
  readonly files: readonly string[];
}

/** Writes the responses of the export endpoint. */
export function writeAnswers(
  answers: AsyncIterable<ExportedBytes>,
  target: PartTarget,
): Promise<WrittenPart> {
  return target.format === 'parquet' ? writeParquet(entriesOf(answers), target) : writeText(answers, target);
}

/** Writes pages of range queries. The files equal those of the export endpoint. */
export function writePages(
  pages: AsyncIterable<readonly MigratedEntry[]>,
  target: PartTarget,
): Promise<WrittenPart> {
  const { format } = target;
  return format === 'parquet' ? writeParquet(pages, target) : writeText(pagesAsBytes(pages, format), target);
}

/** Format to request from the store for files of a format. */
export function wireFormatOf(format: ExportFormat): WireFormat {
  return format === 'parquet' ? 'columns' : format;
}

/** A complete file gets its final name. A part without entries has no file. */
async function writeText(
  answers: AsyncIterable<ExportedBytes>,
  { folder, name, format }: PartTarget,
): Promise<WrittenPart> {
  const file = `${name}.${ENDINGS[format]}`;
  const unfinished = join(folder, `${file}.unfinished`);
  let entries = 0;
  const output = await open(unfinished, 'w');
  try {
    for await (const { entries: more, body } of answers) {
      if (entries === 0 && more > 0 && format === 'csv') await output.appendFile(CSV_HEADING);
      entries += more;
      await writeAll(output, body);
    }
  } catch (error) {
    await output.close();
    await rm(unfinished, { force: true });
    throw error;
  }
  await output.close();
  if (entries === 0) await rm(unfinished);
  else await rename(unfinished, join(folder, file));
  return { entries, files: entries === 0 ? [] : [file] };
}

/** Buffers per `writev`. Linux accepts 1,024. */
const PIECES_AT_ONCE = 512;

export async function writeAll(output: FileHandle, pieces: readonly Buffer[]): Promise<void> {
  for (let i = 0; i < pieces.length; i += PIECES_AT_ONCE) {
    const some = pieces.slice(i, i + PIECES_AT_ONCE);
    const bytes = some.reduce((sum, { length }) => sum + length, 0);
    const { bytesWritten } = await output.writev(some);
    // Rest of a partial write, for example after a signal.
    if (bytesWritten < bytes) await output.appendFile(Buffer.concat(some).subarray(bytesWritten));
  }
}

async function* pagesAsBytes(
  pages: AsyncIterable<readonly MigratedEntry[]>,
  format: TextFormat,
): AsyncGenerator<ExportedBytes> {
  for await (const page of pages) yield { entries: page.length, body: [Buffer.from(pageText(page, format))] };
}

const CSV_COLUMNS = [{ name: 'timestamp' }, { name: 'labels' }, { name: 'metadata' }, { name: 'line' }];

/** Header line of each CSV file. */
export const CSV_HEADING = csvText({ columns: CSV_COLUMNS, rows: [] }, { heading: true });

function pageText(page: readonly MigratedEntry[], format: TextFormat): string {
  if (format === 'text') return page.map(({ line }) => `${line}\n`).join('');
  if (format === 'jsonl') {
    return page
      .map(
        ({ timeNs, labels, metadata, line }) =>
          `${JSON.stringify({ timestamp: nanosecondText(timeNs), labels, metadata, line })}\n`,
      )
      .join('');
  }
  const rows = page.map(({ timeNs, labels, metadata, line }) => [
    nanosecondText(timeNs),
    formatLabels(labelsOf(labels)),
    formatLabels(labelsOf(metadata)),
    line,
  ]);
  return csvText({ columns: CSV_COLUMNS, rows }, { heading: false });
}

async function writeParquet(
  pages: AsyncIterable<readonly MigratedEntry[]>,
  target: PartTarget,
): Promise<WrittenPart> {
  const { parquetFile } = await import('../../../shared/server/open-data/parquet-file.ts');
  const paths = target.hiveTenant === undefined ? undefined : new HivePaths(target.hiveTenant);
  const files: string[] = [];
  let entries = 0;
  let groups = new Map<string, MigratedEntry[]>();
  let heldRows = 0;
  let heldCharacters = 0;
  let number = 0;
  const flush = async () => {
    const suffix = number === 0 ? '' : `-${number}`;
    const named = [...groups]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, rows]) => ({ file: join(path, `${target.name}${suffix}.parquet`), rows }));
    if (named.length > 0) target.onFiles?.(named.map(({ file }) => file));
    for (const { file, rows } of named) {
      await mkdir(dirname(join(target.folder, file)), { recursive: true });
      const unfinished = join(target.folder, `${file}.unfinished`);
      await writeFile(unfinished, parquetFile(rows));
      await rename(unfinished, join(target.folder, file));
      files.push(file);
    }
    number++;
    groups = new Map();
    heldRows = 0;
    heldCharacters = 0;
  };
  for await (const page of pages) {
    for (const entry of page) {
      const path = paths?.of(entry) ?? '';
      const rows = groups.get(path);
      if (rows === undefined) groups.set(path, [entry]);
      else rows.push(entry);
      heldCharacters += entry.line.length;
    }
    entries += page.length;
    heldRows += page.length;
    if (heldRows >= MAX_HELD_ROWS || heldCharacters >= MAX_HELD_CHARACTERS) await flush();
  }
  await flush();
  return { entries, files };
}
