/** Writes an export as one file: the responses of Logboom in order, or the files of parts from other stores, concatenated. */
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { mapAhead } from '../../../shared/base/model/at-once.ts';
import { entryPages, type TimeWindow } from '../migrate/log-source.ts';
import { print } from '../standard-output.ts';
import { begun, type ExportJob, partName } from './export-parts.ts';
import { type ExportedPiece, exportedPieces } from './export-source.ts';
import { formattedPieces, wireFormatOf } from './formatted-pieces.ts';
import { CSV_HEADING, writeAll, writePages } from './part-files.ts';

/** Buffer size for copying a part. */
const COPIED_BYTES = 1024 * 1024;

/**
 * Returns the number of entries.
 * @param parts parts to read from other stores
 * @param output undefined for standard output
 */
export async function exportTogether(
  job: ExportJob,
  parts: readonly TimeWindow[],
  output: string | undefined,
): Promise<number> {
  if (parts.length === 0) return 0;
  const window = { startNs: parts[0].startNs, endNs: parts[parts.length - 1].endNs };
  const { format } = job;
  const pieces = await begun(
    formattedPieces(
      exportedPieces(job.store, { ...job, parts: [window], format: wireFormatOf(format) }),
      format,
    ),
  );
  const file = output === undefined ? undefined : await open(output, 'w');
  try {
    const write = file === undefined ? standardOutput() : (body: readonly Buffer[]) => writeAll(file, body);
    if (pieces === undefined) return await joinParts(job, parts, write);
    return await joinPieces(job, pieces, write);
  } finally {
    await file?.close();
  }
}

type WritePiece = (body: readonly Buffer[]) => Promise<void>;

/** A terminal gets text without control sequences. A character may start in one piece and end in the next. */
function standardOutput(): WritePiece {
  const { stdout } = process;
  const decoder = stdout.isTTY ? new StringDecoder('utf8') : undefined;
  return async body => {
    for (const piece of body) {
      if (decoder !== undefined) await print(decoder.write(piece));
      // The memory of the response is reused.
      else await new Promise<void>(resolve => void stdout.write(piece, () => resolve()));
    }
  };
}

async function joinPieces(
  { format, progress }: ExportJob,
  pieces: AsyncIterable<ExportedPiece>,
  write: WritePiece,
): Promise<number> {
  let entries = 0;
  for await (const piece of pieces) {
    if (entries === 0 && piece.entries > 0 && format === 'csv') await write([Buffer.from(CSV_HEADING)]);
    await write(piece.body);
    entries += piece.entries;
    progress.addPiece(piece);
  }
  return entries;
}

/** Copies the files in order, and deletes each. */
async function joinParts(
  { store, query, batch, format, parallel, progress }: ExportJob,
  parts: readonly TimeWindow[],
  write: WritePiece,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-export-'));
  let entries = 0;
  try {
    const written = mapAhead(parts, { width: parallel }, async window => ({
      window,
      ...(await writePages(entryPages(store, { query, window, batch }), {
        folder,
        name: partName(window),
        format,
      })),
    }));
    for await (const { window, files, entries: more } of written) {
      let bytes = 0;
      for (const file of files) {
        const start = format === 'csv' && entries > 0 ? CSV_HEADING.length : 0;
        const source = createReadStream(join(folder, file), { start, highWaterMark: COPIED_BYTES });
        for await (const piece of source) {
          await write([piece]);
          bytes += piece.length;
        }
        await rm(join(folder, file));
      }
      entries += more;
      progress.add({ entries: more, bytes, doneNs: window.endNs - window.startNs });
    }
    return entries;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
