/**
 * All entries of a log query up to a limit, in requests of bounded size. The next request starts again at the
 * timestamp where the last one ended, because more entries may have it than fitted; what was already given at that
 * timestamp is left out of its answer. Entries that look the same may be several (a pipeline can drop what told them
 * apart), so they are counted, not only known.
 */
import { CommandError } from './command-error.ts';
import type { AskRange, LogEntry, RangeAnswer, RangeRequest } from './range-query.ts';
import { nanosecondText } from './time-text.ts';

export interface PagedRequest extends Omit<RangeRequest, 'limit'> {
  /** Entries in all; Infinity for every one. */
  readonly limit: number;
  /** New entries that one request asks for. */
  readonly batch: number;
}

/** The default of `max_entries_limit_per_query`: stores refuse a request for more. */
const MAX_REQUEST_ENTRIES = 5000;

/** Answers, one after the other: pages of new entries, or the one answer to a metric query. */
export async function* logPages(
  askRange: AskRange,
  { limit, batch, ...request }: PagedRequest,
): AsyncGenerator<RangeAnswer> {
  const forward = request.direction === 'forward';
  let { startNs, endNs } = request;
  let left = limit;
  let edge = new Edge(undefined);
  while (left > 0) {
    const wanted = edge.entries + Math.min(batch, left);
    // As long as something new fits; beyond it the store decides.
    const asked = Math.min(wanted, Math.max(MAX_REQUEST_ENTRIES, edge.entries + 1, batch));
    const answer = await edge.explaining(() => askRange({ ...request, startNs, endNs, limit: asked }), asked);
    if (answer.kind !== 'streams') {
      yield answer;
      return;
    }
    const fresh = edge.fresh(answer.entries).slice(0, left);
    yield { ...answer, entries: fresh };
    left -= fresh.length;
    const last = fresh.at(-1);
    // An answer that is not full has everything; one without anything new cannot move on.
    if (last === undefined || answer.entries.length < asked) return;
    if (last.timeNs !== edge.timeNs) edge = new Edge(last.timeNs);
    edge.add(fresh);
    if (forward) startNs = last.timeNs;
    else endNs = last.timeNs + 1n;
  }
}

/** The entries that were given at the timestamp where the last answer ended. */
class Edge {
  readonly timeNs: bigint | undefined;
  entries = 0;
  readonly #counts = new Map<string, number>();

  constructor(timeNs: bigint | undefined) {
    this.timeNs = timeNs;
  }

  add(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (entry.timeNs !== this.timeNs) continue;
      const key = identity(entry);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      this.entries++;
    }
  }

  /** Explains a refusal of a request for more entries than a store returns by default. */
  async explaining<T>(ask: () => Promise<T>, asked: number): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CommandError) || this.timeNs === undefined || asked <= MAX_REQUEST_ENTRIES) {
        throw error;
      }
      const count = `${this.entries} entries or more have the timestamp ${nanosecondText(this.timeNs)}`;
      const advice = 'narrow the query, or raise max_entries_limit_per_query';
      throw new CommandError(
        `${error.message}; ${count}, and one request must return all of them: ${advice}`,
      );
    }
  }

  /** The entries of an answer that were not given before. */
  fresh(entries: readonly LogEntry[]): LogEntry[] {
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

function identity({ labels, line }: LogEntry): string {
  return JSON.stringify([Object.entries(labels).sort(), line]);
}
