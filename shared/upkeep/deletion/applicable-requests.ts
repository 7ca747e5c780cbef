/**
 * Caches sets of requests that chunks have in common, with their compiled filters. Compiling many texts takes
 * milliseconds, and a query may read thousands of chunks, most with the same set.
 */
import { LruCache } from '../../base/model/lru.ts';
import { LineDeleteFilters } from './covered-rows.ts';
import type { RequestsOfChunk, RequestsOfGroup } from './day-requests.ts';
import type { DeleteFilter } from './delete-filter.ts';
import type { SelectorGroup, SelectorGroups } from './selector-groups.ts';

/** Requests that may cover rows of a chunk. */
export interface ApplicableRequests {
  /** Requests without stages. */
  readonly whole: ReadonlyMap<SelectorGroup, readonly DeleteFilter[]>;
  /** Requests with stages. */
  readonly byLine: ReadonlyMap<SelectorGroup, readonly DeleteFilter[]>;
  /** Compiled filters of all requests with stages; `undefined` without such requests. */
  readonly lines: LineDeleteFilters | undefined;
}

/** Holds 2 sets of 10,000 requests each, or 150 sets of 100 requests. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** Minimum size of a search table. */
const SET_BYTES = 160 * 1024;
/** Size of a request, including its entries in the table. */
const REQUEST_BYTES = 1500;

export class ApplicableRequestCache {
  readonly #groups: SelectorGroups;
  readonly #sets = new LruCache<string, ApplicableRequests>(MAX_CACHED_BYTES);
  readonly #lines = new LruCache<string, LineDeleteFilters>(MAX_CACHED_BYTES);
  /** Numbers of the arrays that chunks share. */
  readonly #numbers = new WeakMap<readonly RequestsOfGroup[], number>();
  #counted = 0;
  #last: { readonly touching: RequestsOfChunk; readonly set: ApplicableRequests } | undefined;

  constructor(groups: SelectorGroups) {
    this.#groups = groups;
  }

  /** Returns the same object for the same requests. */
  of(touching: RequestsOfChunk): ApplicableRequests {
    // Most chunks have the same set as the previous one.
    if (this.#last !== undefined && isSame(this.#last.touching, touching)) return this.#last.set;
    const { shared, own } = touching;
    const keys = own.flatMap(({ requests }) => requests.map(({ key: one }) => one));
    const key = [this.#numberOf(shared), ...keys].join('\n');
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = this.#compile([...shared, ...own]);
      const count = shared.reduce((sum, { requests }) => sum + requests.length, keys.length);
      this.#sets.set(key, set, bytesOfSet(count));
    }
    this.#last = { touching, set };
    return set;
  }

  /** Compiled filters of requests with stages. */
  linesOf(requests: readonly DeleteFilter[]): LineDeleteFilters {
    const key = requests.map(request => request.key).join('\n');
    let lines = this.#lines.get(key);
    if (lines === undefined) {
      lines = new LineDeleteFilters(requests, this.#groups);
      this.#lines.set(key, lines, bytesOfSet(requests.length));
    }
    return lines;
  }

  #compile(touching: readonly RequestsOfGroup[]): ApplicableRequests {
    const whole = new Map<SelectorGroup, DeleteFilter[]>();
    const byLine = new Map<SelectorGroup, DeleteFilter[]>();
    for (const { group, requests } of touching) {
      for (const request of requests) {
        const kind = request.isWhole ? whole : byLine;
        const ofGroup = kind.get(group);
        if (ofGroup === undefined) kind.set(group, [request]);
        else ofGroup.push(request);
      }
    }
    const lines = [...byLine.values()].flat();
    return { whole, byLine, lines: lines.length === 0 ? undefined : this.linesOf(lines) };
  }

  #numberOf(shared: readonly RequestsOfGroup[]): number {
    let number = this.#numbers.get(shared);
    if (number === undefined) {
      number = ++this.#counted;
      this.#numbers.set(shared, number);
    }
    return number;
  }
}

function bytesOfSet(requests: number): number {
  return SET_BYTES + requests * REQUEST_BYTES;
}

function isSame(a: RequestsOfChunk, b: RequestsOfChunk): boolean {
  if (a.shared !== b.shared || a.own.length !== b.own.length) return false;
  return a.own.every(({ requests }, i) => isEqual(requests, b.own[i].requests));
}

function isEqual(a: readonly DeleteFilter[], b: readonly DeleteFilter[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((request, i) => request === b[i]);
}
