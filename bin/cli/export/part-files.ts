/** Writes the files of one part of an export: one, or several for Parquet, whose rows must fit into memory. */

import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { formatLabels, labelsOf } from '../../../shared/base/model/labels.ts';
import { decodeColumns } from '../../../shared/server/open-data/entry-columns.ts';
import type { TextFormat } from '../../../shared/server/open-data/text-format.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import { csvText } from '../table-text.ts';
import { nanosecondText } from '../time-text.ts';
import type { ExportedBytes } from './export-source.ts';
import type { ParquetParts } from './parquet-parts.ts';
import { ENDINGS, type PartTarget, type WrittenPart } from './part-target.ts';

/** Writes the responses of the export endpoint. */
export function writeAnswers(
  answers: AsyncIterable<ExportedBytes>,
  target: PartTarget,
): Promise<WrittenPart> {
  if (target.format !== 'parquet') return writeText(answers, target);
  return writeParquet(target, async parts => {
    for await (const { body } of answers)
      await parts.addColumns(decodeColumns(body.length === 1 ? body[0] : Buffer.concat(body)));
  });
}

/** Writes pages of range queries. The files equal those of the export endpoint. */
export function writePages(
  pages: AsyncIterable<readonly MigratedEntry[]>,
  target: PartTarget,
): Promise<WrittenPart> {
  const { format } = target;
  if (format !== 'parquet') return writeText(pagesAsBytes(pages, format), target);
  return writeParquet(target, async parts => {
    for await (const page of pages) await parts.addEntries(page);
  });
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
  target: PartTarget,
  addAll: (parts: ParquetParts) => Promise<void>,
): Promise<WrittenPart> {
  const { ParquetParts } = await import('./parquet-parts.ts');
  const parts = new ParquetParts(target);
  await addAll(parts);
  return parts.end();
}
