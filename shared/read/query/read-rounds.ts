/**
 * Groups the reads of a query into rounds. A *round* is a position in the longest chain of reads in which
 * each starts after another has ended. A query over a distant store waits for its rounds, however fast it
 * computes.
 */
import type { TracedPart, TracedRead } from '../../base/ports/read-trace.ts';

interface TimedPart {
  readonly startMs: number;
  readonly endMs: number;
}

export interface ReadRound {
  /** Milliseconds from the start of the query to the first read of the round. */
  readonly startMs: number;
  /** Milliseconds from there to the end of the last read. */
  readonly ms: number;
  /** Reads that were neither cached nor pruned, by kind. */
  readonly reads: Readonly<Record<string, { readonly requests: number; readonly bytes: number }>>;
  /** Kind of the read that ended last. */
  readonly waitedFor: string;
  /** Longest wait of one of these reads for a free connection, milliseconds. Absent if none waited. */
  readonly connectionMs?: number;
}

/** Part of a query that a worker ran, with its own rounds. */
export interface PartRounds {
  readonly ranIn: string;
  /** Milliseconds from the start of the query. */
  readonly startMs: number;
  readonly ms: number;
  readonly bytes: number;
  readonly rounds: readonly ReadRound[];
}

/** Returns the round of each request, from 1. */
export function roundsOf(requests: readonly TimedPart[]): number[] {
  const rounds = new Map<TimedPart, number>();
  const ended = requests.slice().sort((a, b) => a.endMs - b.endMs);
  let next = 0;
  let deepest = 0;
  for (const request of requests.slice().sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs)) {
    // A request of zero duration ended when it started; it waits only for others that ended before.
    while (next < ended.length && ended[next].endMs <= request.startMs && ended[next] !== request) {
      deepest = Math.max(deepest, rounds.get(ended[next]) ?? 0);
      next++;
    }
    rounds.set(request, deepest + 1);
  }
  return requests.map(request => rounds.get(request)!);
}

export function readRounds(traced: readonly TracedRead[]): ReadRound[] {
  const rounds = roundsOf(traced);
  const byRound = Map.groupBy(traced, (_, i) => rounds[i]);
  return [...byRound]
    .sort(([a], [b]) => a - b)
    .map(([, ofRound]) => {
      const startMs = Math.min(...ofRound.map(read => read.startMs));
      const last = ofRound.reduce((latest, read) => (read.endMs > latest.endMs ? read : latest));
      const reads: Record<string, { requests: number; bytes: number }> = {};
      for (const { what, bytes } of ofRound) {
        reads[what] ??= { requests: 0, bytes: 0 };
        reads[what].requests++;
        reads[what].bytes += bytes;
      }
      const connectionMs = rounded(Math.max(...ofRound.map(read => read.connectionMs)));
      return {
        startMs: rounded(startMs),
        ms: rounded(last.endMs - startMs),
        reads,
        waitedFor: last.what,
        ...(connectionMs > 0 && { connectionMs }),
      };
    });
}

export function partRounds(parts: readonly TracedPart[]): PartRounds[] {
  return parts.map(({ ranIn, startMs, endMs, reads }) => ({
    ranIn,
    startMs: rounded(startMs),
    ms: rounded(endMs - startMs),
    bytes: reads.reduce((sum, { bytes }) => sum + bytes, 0),
    rounds: readRounds(reads),
  }));
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
