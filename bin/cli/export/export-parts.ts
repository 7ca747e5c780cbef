/**
 * Writes an export as one file per part, to a folder or on to a remote target. Skips parts that the state has. Parts from Logboom are
 * written in time order, while the next responses are on their way. Parts from other stores are read in parallel.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mapAtOnce } from '../../../shared/base/model/at-once.ts';
import { entryPages, type TimeWindow } from '../migrate/log-source.ts';
import type { PartState } from '../part-state.ts';
import type { StoreFlags } from '../store-client.ts';
import { nanosecondText } from '../time-text.ts';
import { type ExportedPiece, exportedPieces, NoExportError } from './export-source.ts';
import { formattedPieces, wireFormatOf } from './formatted-pieces.ts';
import { writeAnswers, writePages } from './part-files.ts';
import type { ExportFormat, PartTarget, WrittenPart } from './part-target.ts';
import type { ExportProgress } from './progress.ts';
import type { FileTarget } from './s3-target.ts';

export interface ExportJob {
  readonly store: StoreFlags;
  readonly query: string;
  readonly format: ExportFormat;
  readonly parallel: number;
  /** Entries per request to a store other than Logboom. */
  readonly batch: number;
  /** See `PartTarget`. */
  readonly hiveTenant: string | undefined;
  readonly progress: ExportProgress;
}

interface PartsTarget {
  readonly folder: string;
  readonly state: PartState;
  /** Copies a file to a remote target. The local file is then deleted. */
  readonly remote?: FileTarget;
}

interface ExportTotals {
  entries: number;
  files: number;
  /** Entries of parts that an earlier run wrote. */
  earlier: number;
}

/** Smaller than the default, because the rows of a file are held in addition to responses. The command is the slower side. */
const PARQUET_BYTES = 16 * 1024 * 1024;
/** Concurrent uploads. */
const PUTS_AT_ONCE = 4;

export async function exportParts(
  job: ExportJob,
  parts: readonly TimeWindow[],
  { folder, state, remote }: PartsTarget,
): Promise<ExportTotals> {
  const totals: ExportTotals = { entries: 0, files: 0, earlier: 0 };
  const idOf = ({ startNs }: TimeWindow) => ({
    tenant: job.store.tenant ?? '',
    selector: job.query,
    start: `${startNs}`,
  });
  const missing = parts.filter(part => {
    const known = state.doneEntries(idOf(part));
    if (known === undefined) return true;
    totals.earlier += known;
    job.progress.add({ entries: known, bytes: 0, doneNs: part.endNs - part.startNs });
    return false;
  });

  async function keep(part: TimeWindow, { entries, files }: WrittenPart): Promise<void> {
    if (remote !== undefined) {
      for (const file of files) {
        await remote.put(folder, file);
        await rm(join(folder, file));
      }
    }
    state.add({ ...idOf(part), entries });
    totals.entries += entries;
    totals.files += files.length;
  }

  const targetOf = (part: TimeWindow): PartTarget => ({
    folder,
    name: partName(part),
    format: job.format,
    hiveTenant: job.hiveTenant,
    onFiles: files => state.begin({ ...idOf(part), files }),
  });
  for (const part of missing) {
    for (const file of state.begunFiles(idOf(part))) {
      if (remote === undefined) await rm(join(folder, file), { force: true });
      else await remote.remove(file);
    }
  }
  const { format } = job;
  const pieces = await begun(
    formattedPieces(
      exportedPieces(job.store, {
        ...job,
        parts: missing,
        format: wireFormatOf(format),
        ...(format === 'parquet' && { wantedBytes: PARQUET_BYTES }),
      }),
      format,
    ),
  );
  if (pieces === undefined) {
    await mapAtOnce(missing, job.parallel, async part => {
      const pages = entryPages(job.store, { query: job.query, window: part, batch: job.batch });
      const written = await writePages(pages, targetOf(part));
      await keep(part, written);
      const bytes = await bytesOf(remote === undefined ? written.files : [], folder);
      job.progress.add({ entries: written.entries, bytes, doneNs: part.endNs - part.startNs });
    });
    return totals;
  }
  const puts = new BoundedWork(remote === undefined ? 1 : PUTS_AT_ONCE);
  for (const part of missing) {
    const written = await writeAnswers(piecesOfPart(pieces, job.progress), targetOf(part));
    await puts.begin(() => keep(part, written));
  }
  await puts.end();
  return totals;
}

/** Name that sorts by time and has no characters that file systems refuse: `2026-01-05T100000.000Z`. */
export function partName({ startNs }: TimeWindow): string {
  return nanosecondText(startNs)
    .replace(/(\.\d{3})\d{6}Z$/, '$1Z')
    .replaceAll(':', '');
}

/** Waits for the first response. Returns undefined if the store has no export endpoint. */
export async function begun(
  pieces: AsyncGenerator<ExportedPiece>,
): Promise<AsyncGenerator<ExportedPiece> | undefined> {
  try {
    const first = await pieces.next();
    return withFirst(first, pieces);
  } catch (error) {
    if (error instanceof NoExportError) return undefined;
    throw error;
  }
}

async function* withFirst(
  first: IteratorResult<ExportedPiece, void>,
  rest: AsyncGenerator<ExportedPiece>,
): AsyncGenerator<ExportedPiece> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** Pieces up to the end of the part. The rest stays in the generator. */
async function* piecesOfPart(
  pieces: AsyncGenerator<ExportedPiece>,
  progress: ExportProgress,
): AsyncGenerator<ExportedPiece> {
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return;
    yield value;
    progress.addPiece(value);
    if (value.endsPart) return;
  }
}

async function bytesOf(files: readonly string[], folder: string): Promise<number> {
  const sizes = await Promise.all(files.map(async file => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Starts work in order, with bounded concurrency. */
class BoundedWork {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when more work may start. Throws errors of earlier work. */
  async begin(work: () => Promise<void>): Promise<void> {
    const running = work().then(() => void this.#running.delete(running));
    running.catch(() => undefined);
    this.#running.add(running);
    if (this.#running.size >= this.#most) await Promise.race(this.#running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
  }
}
