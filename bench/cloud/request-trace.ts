/**
 * Requests of a query, and how many of them had to wait for one another. A *round* is a place in the longest chain of requests
 * in which each begins when another has ended: what a query over a distant store waits for, however fast it is.
 */
export type RequestKind = 'table read' | 'table write' | 'object read' | 'object write';

export interface TracedRequest {
  readonly kind: RequestKind;
  /** Key and range, for people. */
  readonly target: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Of the answer, or of what was written. */
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

/** The round of each request, from 1. */
export function roundsOf(requests: readonly TracedRequest[]): number[] {
  const rounds = new Map<TracedRequest, number>();
  const ended = requests.slice().sort((a, b) => a.endMs - b.endMs);
  let next = 0;
  let deepest = 0;
  for (const request of requests.slice().sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs)) {
    // What has no length in time began after itself; it waits for what ended before.
    while (next < ended.length && ended[next].endMs <= request.startMs && ended[next] !== request) {
      deepest = Math.max(deepest, rounds.get(ended[next]) ?? 0);
      next++;
    }
    rounds.set(request, deepest + 1);
  }
  return requests.map(request => rounds.get(request)!);
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
