/**
 * Pages through the entries of a log query up to a limit, in requests of bounded size. The next request
 * starts at the timestamp where the last one ended, because more entries may have that timestamp. Entries
 * already returned at that timestamp are removed from the response. Equal entries are counted instead of
 * deduplicated, because a pipeline can drop what distinguished them.
 */
import { CommandError } from './command-error.ts';
import type { FetchRange, PrintedEntry, RangeAnswer, RangeRequest } from './range-query.ts';
import { nanosecondText } from './time-text.ts';

interface PagedRequest extends Omit<RangeRequest, 'limit'> {
  /** Maximum number of entries; Infinity for all. */
  readonly limit: number;
  /** Maximum number of new entries per request. */
  readonly batch: number;
}

/** Default of `max_entries_limit_per_query`: stores refuse larger requests. */
const MAX_REQUEST_ENTRIES = 5000;

/** Responses in order: pages of new entries, or the one response of a metric query. */
export async function* logPages(
  fetchRange: FetchRange,
  { limit, batch, ...request }: PagedRequest,
): AsyncGenerator<RangeAnswer> {
  const forward = request.direction === 'forward';
  let { startNs, endNs } = request;
  let left = limit;
  let edge = new PageEdge(undefined);
  while (left > 0) {
    const wanted = edge.entries + Math.min(batch, left);
    // Grows the request while that can return new entries. Beyond the default limit, the store decides.
    const asked = Math.min(wanted, Math.max(MAX_REQUEST_ENTRIES, edge.entries + 1, batch));
    const answer = await edge.explaining(
      () => fetchRange({ ...request, startNs, endNs, limit: asked }),
      asked,
    );
    if (answer.kind !== 'streams') {
      yield answer;
      return;
    }
    const fresh = edge.fresh(answer.entries).slice(0, left);
    yield { ...answer, entries: fresh };
    left -= fresh.length;
    const last = fresh.at(-1);
    // A response below its limit is the last one. A response without new entries cannot advance.
    if (last === undefined || answer.entries.length < asked) return;
    if (last.timeNs !== edge.timeNs) edge = new PageEdge(last.timeNs);
    edge.add(fresh);
    if (forward) startNs = last.timeNs;
    else endNs = last.timeNs + 1n;
  }
}

/** Entries already returned at the timestamp where the last response ended. */
class PageEdge {
  readonly timeNs: bigint | undefined;
  entries = 0;
  readonly #counts = new Map<string, number>();

  constructor(timeNs: bigint | undefined) {
    this.timeNs = timeNs;
  }

  add(entries: readonly PrintedEntry[]): void {
    for (const entry of entries) {
      if (entry.timeNs !== this.timeNs) continue;
      const key = identity(entry);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      this.entries++;
    }
  }

  /** Explains why a store refused a request for more entries than its default limit. */
  async explaining<T>(ask: () => Promise<T>, asked: number): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CommandError) || this.timeNs === undefined || asked <= MAX_REQUEST_ENTRIES) {
        throw error;
      }
      const count = `at least ${this.entries} entries have the timestamp ${nanosecondText(this.timeNs)}`;
      const advice = 'narrow the query, or raise max_entries_limit_per_query';
      throw new CommandError(
        `${error.message}; ${count}, and one request must return all of them: ${advice}`,
      );
    }
  }

  /** Entries of a response that were not returned before. */
  fresh(entries: readonly PrintedEntry[]): PrintedEntry[] {
    const left = new Map(this.#counts);
    return entries.filter(entry => {
      if (entry.timeNs !== this.timeNs) return true;
      const key = identity(entry);
      const count = left.get(key) ?? 0;
      if (count > 0) left.set(key, count - 1);
      return count === 0;
    });
  }
}

function identity({ labels, line }: PrintedEntry): string {
  return JSON.stringify([Object.entries(labels).sort(), line]);
}
