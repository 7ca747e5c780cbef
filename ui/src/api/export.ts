/** Part of the export of a log query, as bytes of a file. */
import type { ExportedPart } from '../lines/export-rows.ts';
import { fetchResponse } from './client.ts';

interface ExportPartRequest {
  /** Log query. */
  readonly query: string;
  /** Unix nanoseconds. */
  readonly startNs: string;
  readonly endNs: string;
  readonly format: 'jsonl' | 'text';
}

/** Bytes of lines per part: about 10,000 lines, after each of which the progress moves. */
const PART_BYTES = 2 * 1024 * 1024;

export async function fetchExport(
  asked: ExportPartRequest,
  signal: AbortSignal,
): Promise<ExportedPart<Blob>> {
  const { query, startNs, endNs, format } = asked;
  const answer = await fetchResponse('/svc/api/v1/export', {
    params: { query, start: startNs, end: endNs, format, bytes: PART_BYTES },
    signal,
  });
  return {
    // Browsers move blobs out of the page's memory.
    body: await answer.blob(),
    entries: Number(answer.headers.get('x-logboom-entries')),
    next: answer.headers.get('x-logboom-next') ?? undefined,
  };
}
