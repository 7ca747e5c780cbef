/** Columns as plain objects, for comparison in tests. */

import { ClientError } from '../../shared/base/model/errors.ts';
import type { AcceptedPush, PushColumns } from '../../shared/write/ingest/push-columns.ts';

export interface PlainEntry {
  stream: string;
  ns: bigint;
  line: string;
  metadata: [string, string][];
}

function nsOf(columns: PushColumns, entry: number): bigint {
  return BigInt(columns.day[entry]) * 86_400_000_000_000n + BigInt(columns.timeOfDay[entry]);
}

function entryOf(columns: PushColumns, entry: number): PlainEntry {
  const metadata: [string, string][] = [];
  for (let pair = columns.firstPair[entry]; pair < columns.firstPair[entry + 1]; pair++) {
    metadata.push([
      columns.names[columns.pairName[pair]],
      columns.bytes.utf8Slice(columns.pairStart[pair], columns.pairEnd[pair]),
    ]);
  }
  return {
    stream: columns.streams[columns.streamOf[entry]].text,
    ns: nsOf(columns, entry),
    line: columns.bytes.utf8Slice(columns.lineStart[entry], columns.lineEnd[entry]),
    metadata,
  };
}

export function entriesOf(columns: PushColumns): PlainEntry[] {
  return Array.from({ length: columns.count }, (_, entry) => entryOf(columns, entry));
}

/** The entries that are to be stored, the level that detection adds among their metadata. */
export function acceptedEntries({ columns, entries, levelOf, levels }: AcceptedPush): PlainEntry[] {
  return [...entries].map(entry => {
    const plain = entryOf(columns, entry);
    if (levelOf[entry] > 0) plain.metadata.push(['detected_level', levels[levelOf[entry] - 1]]);
    return plain;
  });
}

/** Status and message of the client error that a function throws; rethrows other errors. */
export function refusal(run: () => unknown): [number, string] {
  try {
    run();
  } catch (error) {
    if (error instanceof ClientError) return [error.status, error.message];
    throw error;
  }
  throw new Error('not refused');
}

/** True if the function returns or refuses with a client error; rethrows other errors. */
export function holds(run: () => unknown): boolean {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
  }
  return true;
}
