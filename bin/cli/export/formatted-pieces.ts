/**
 * Formats responses of the export endpoint as JSON lines or CSV. The store sends columns, which have about half of the bytes, and
 * the kernel of the store formats them here. Lines alone are sent as they are written, and Parquet files are made of columns.
 */

import type { FileRows } from '../../../shared/base/kernels/file-rows.ts';
import type { DecodedColumns } from '../../../shared/server/open-data/entry-columns.ts';
import type { ExportedPiece, WireFormat } from './export-source.ts';
import type { ExportFormat } from './part-target.ts';

/** Format to request from the store for files of a format. */
export function wireFormatOf(format: ExportFormat): WireFormat {
  return format === 'text' ? 'text' : 'columns';
}

/** The pieces in the format of the files. A response becomes several pieces of about 1 MiB. */
export async function* formattedPieces(
  pieces: AsyncIterable<ExportedPiece>,
  format: ExportFormat,
): AsyncGenerator<ExportedPiece> {
  if (format === 'text' || format === 'parquet') {
    yield* pieces;
    return;
  }
  const { FileWriter } = await import('../../../shared/base/kernels/file-rows.ts');
  const { decodeColumns } = await import('../../../shared/server/open-data/entry-columns.ts');
  const { fileFormat } = await import('../../../shared/server/open-data/text-format.ts');
  const writer = new FileWriter();
  for await (const { entries, body, part, endsPart, completes } of pieces) {
    const columns = decodeColumns(body.length === 1 ? body[0] : Buffer.concat(body));
    const { dayStartNs, sets, lines } = columns;
    lines.copy(writer.lines(lines.length));
    let left = writer.begin(rowsOf(columns), lines.length, fileFormat(format, dayStartNs, sets));
    const { startNs } = completes;
    for (let isFirst = true; isFirst || left > 0; isFirst = false) {
      const formatted = writer.nextPiece();
      left -= formatted.length;
      const end =
        left === 0
          ? { part, endsPart, completes }
          : { part, endsPart: false, completes: { startNs, endNs: startNs } };
      yield { ...end, entries: isFirst ? entries : 0, body: [formatted] };
    }
  }
}

/** The rows, which are in order, by their lines with the line feeds in between. */
function rowsOf({ times, labels, ends }: DecodedColumns): FileRows {
  const count = times.length;
  const order = new Uint32Array(count);
  const starts = new Uint32Array(count);
  for (let row = 1; row < count; row++) {
    order[row] = row;
    starts[row] = ends[row - 1] + 1;
  }
  return { count, order, times, starts, ends, labels };
}
