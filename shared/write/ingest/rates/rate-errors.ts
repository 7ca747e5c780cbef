/**
 * Errors for pushes above a rate or the number of active streams (docs/dev/wire-format.md#rate-of-a-tenant,
 * #rates-and-number-of-streams). All have status 429.
 */
import { ClientError } from '../../../base/model/errors.ts';
import type { PushColumns } from '../push-columns.ts';
import { formatRfc3339 } from '../timestamp.ts';
import { MAX_REPORTED_ENTRIES } from './bounds.ts';

const TOO_MANY_REQUESTS = 429;
const ASK = 'contact your Loki administrator to see if the limit can be increased';

/** @param refused `limitBytes` is the configured rate of the tenant, however many processes share it */
export function tenantRateError(
  tenant: string,
  { limitBytes, lines, bytes }: { limitBytes: number; lines: number; bytes: number },
): ClientError {
  return new ClientError(
    TOO_MANY_REQUESTS,
    `ingestion rate limit exceeded for user ${tenant} (limit: ${Math.trunc(limitBytes)} bytes/sec) while attempting to ingest '${lines}' lines totaling '${bytes}' bytes, reduce log volume or ${ASK}`,
  );
}

export function streamLimitError(tenant: string, stream: string): ClientError {
  return new ClientError(
    TOO_MANY_REQUESTS,
    `maximum active stream limit exceeded when trying to create stream ${stream}, reduce the number of active streams (reduce labels or reduce label values), or ${ASK}, user: '${tenant}'`,
  );
}

interface RefusedStream {
  readonly columns: PushColumns;
  /** Entries of the push that would be stored, ascending, including those of other streams. */
  readonly entries: Uint32Array;
  /** Index of the stream. */
  readonly stream: number;
  /** Number of `entries` that belong to the stream. */
  readonly count: number;
  readonly limitBytes: number;
}

export function streamRateError(tenant: string, refused: RefusedStream): ClientError {
  const { columns, entries, stream, count, limitBytes } = refused;
  const { text } = columns.streams[stream];
  const lines: string[] = [];
  for (let i = 0; i < entries.length && lines.length < MAX_REPORTED_ENTRIES; i++) {
    const entry = entries[i];
    if (columns.streamOf[entry] !== stream) continue;
    const reason = `Per stream rate limit exceeded (limit: ${rateSizeText(limitBytes)}/sec) while attempting to ingest for stream '${text}' totaling ${rateSizeText(bytesOfEntry(columns, entry))}, consider splitting a stream via additional labels or ${ASK}`;
    lines.push(`entry with timestamp ${timeOf(columns, entry)} ignored, reason: '${reason}',\n`);
  }
  const total = `user '${tenant}', total ignored: ${count} out of ${count} for stream: ${text}`;
  return new ClientError(TOO_MANY_REQUESTS, lines.join('') + total);
}

/** Formats a time as Go does: `2024-01-02 03:04:05.06 +0000 UTC`. */
function timeOf({ day, timeOfDay }: PushColumns, entry: number): string {
  const seconds = formatRfc3339(day[entry], timeOfDay[entry]).slice(0, -1).replace('T', ' ');
  const fraction = String(timeOfDay[entry] % 1e9)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${seconds}${fraction === '' ? '' : `.${fraction}`} +0000 UTC`;
}

/** Bytes of line and metadata. Detected levels are not part of the columns. */
function bytesOfEntry(columns: PushColumns, entry: number): number {
  let bytes = columns.lineEnd[entry] - columns.lineStart[entry];
  for (let pair = columns.firstPair[entry]; pair < columns.firstPair[entry + 1]; pair++) {
    const name = columns.names[columns.pairName[pair]];
    bytes += Buffer.byteLength(name) + columns.pairEnd[pair] - columns.pairStart[pair];
  }
  return bytes;
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** Formats bytes in the largest 1024-based unit that gives a whole number: `3MB`, `1536KB`, `1000B`. */
export function rateSizeText(bytes: number): string {
  let size = Math.trunc(bytes);
  let unit = 0;
  while (size > 0 && size % 1024 === 0 && unit < SIZE_UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size}${SIZE_UNITS[unit]}`;
}
