/** Requests of a query, and their number of rounds (shared/read/query/read-rounds.ts). */
import { roundsOf } from '../../shared/read/query/read-rounds.ts';

export type RequestKind = 'table read' | 'table write' | 'object read' | 'object write';

export interface TracedRequest {
  readonly kind: RequestKind;
  /** Key and range, for display. */
  readonly target: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Bytes of the response, or of the write. */
  readonly bytes: number;
}

export interface RequestTotals {
  readonly objectReads: number;
  readonly objectBytes: number;
  readonly tableReads: number;
  readonly writes: number;
  readonly rounds: number;
  /** Virtual ms from the start of the first request to the end of the last one. */
  readonly ms: number;
}

export function totalsOf(requests: readonly TracedRequest[]): RequestTotals {
  const objects = requests.filter(({ kind }) => kind === 'object read');
  const count = (kind: RequestKind) => requests.filter(request => request.kind === kind).length;
  const firstMs = Math.min(...requests.map(({ startMs }) => startMs));
  const lastMs = Math.max(...requests.map(({ endMs }) => endMs));
  return {
    objectReads: objects.length,
    objectBytes: objects.reduce((bytes, request) => bytes + request.bytes, 0),
    tableReads: count('table read'),
    writes: count('table write') + count('object write'),
    rounds: Math.max(0, ...roundsOf(requests)),
    ms: requests.length === 0 ? 0 : lastMs - firstMs,
  };
}
