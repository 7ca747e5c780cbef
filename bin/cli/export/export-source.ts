/**
 * Entries of a part as the store writes them: bytes of the file, answer by answer. The store writes them because parsing each entry here
 * would cost more than all the rest. Stores without the endpoint, such as Loki, are asked for pages of a range query instead.
 */
import { CommandError } from '../command-error.ts';
import { persistently, type TimeWindow } from '../migrate/log-source.ts';
import { askBytes, endpoint, refusal, type StoreFlags } from '../store-client.ts';

const PATH = '/loki/api/v1/export';
const REQUEST_TIMEOUT_MS = 600_000;
const FIRST_BYTES = 16 * 1024 * 1024;
/** Bytes of lines that the answers of all parts hold together, about. */
const BYTES_OF_ALL_PARTS = 256 * 1024 * 1024;
/** Functions cannot answer with more than 6 MB. Below this, an answer is not made smaller. */
const MIN_BYTES = 256 * 1024;
const TOO_LARGE = /too large for this deployment/;

/** `jsonl` is what Parquet files are made of, too. */
export type WireFormat = 'text' | 'jsonl' | 'csv';

export interface ExportedBytes {
  readonly entries: number;
  readonly body: readonly Buffer[];
}

/** The store does not know the endpoint. */
export class NoExportError extends CommandError {}

/** Answers of the window in the order of time. Throws NoExportError before the first one, and CommandError. */
export async function* exportedBytes(
  store: StoreFlags,
  {
    query,
    window,
    format,
    parallel,
  }: {
    readonly query: string;
    readonly window: TimeWindow;
    readonly format: WireFormat;
    readonly parallel: number;
  },
): AsyncGenerator<ExportedBytes> {
  let bytes = Math.min(FIRST_BYTES, Math.floor(BYTES_OF_ALL_PARTS / parallel));
  let start: bigint | undefined = window.startNs;
  while (start !== undefined && start < window.endNs) {
    const url = endpoint(store, PATH);
    url.search = new URLSearchParams({
      query,
      start: `${start}`,
      end: `${window.endNs}`,
      format,
      bytes: `${bytes}`,
    }).toString();
    const answer = await persistently(async () => {
      const { body, ...rest } = await askBytes(store, url, { method: 'GET', timeoutMs: REQUEST_TIMEOUT_MS });
      if (rest.status === 200) return { ...rest, body };
      const text = Buffer.concat(body).toString('utf8');
      if (rest.status === 404 || rest.status === 405) throw new NoExportError(refusal({ ...rest, text }));
      if (TOO_LARGE.test(text) && bytes > MIN_BYTES) return undefined;
      throw new CommandError(refusal({ ...rest, text }));
    });
    if (answer === undefined) {
      bytes = Math.max(MIN_BYTES, Math.floor(bytes / 2));
      continue;
    }
    const entries = answer.headers.get('x-logboom-entries');
    // Some other server that has an answer for every path.
    if (entries === null) throw new NoExportError('the store has no endpoint for exports');
    yield { entries: Number(entries), body: answer.body };
    const next = answer.headers.get('x-logboom-next');
    const before: bigint = start;
    start = next === null ? undefined : BigInt(next);
    if (start !== undefined && start <= before)
      throw new CommandError(`unexpected response: an export that began at ${before} goes on at ${start}`);
  }
}
