/**
 * Reads from a store with Loki's API for a migration: streams, entries with structured metadata, and counts.
 */

import { mapAtOnce } from '../../../shared/base/model/at-once.ts';
import { NS_PER_MS } from '../../../shared/base/model/time-units.ts';
import { CommandError } from '../command-error.ts';
import { fetchJson, parseAnswer, understood } from '../json-client.ts';
import { logPages } from '../log-pages.ts';
import { fetchInstant, type PrintedEntry, type RangeAnswer, type RangeRequest } from '../range-query.ts';
import { RESTART_RETRIES, retried } from '../retries.ts';
import { endpoint, refusal, type StoreFlags, sendRequest, UnreachableError } from '../store-client.ts';
import { type StreamLabels, streamKey, streamSelector } from './streams-cover.ts';

const RANGE_PATH = '/loki/api/v1/query_range';
const SERIES_PATH = '/loki/api/v1/series';
/** Requests structured metadata separate from stream labels. */
const CATEGORIES = { 'x-loki-response-encoding-flags': 'categorize-labels' };
const REQUEST_TIMEOUT_MS = 600_000;
/** Concurrent counts of single streams, if a store refuses to count them in one query. */
const COUNTS_AT_ONCE = 4;

/** Half-open window in whole milliseconds, the precision of LogQL durations. */
export interface TimeWindow {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface MigratedEntry extends PrintedEntry {
  /** Structured metadata, and labels that the query parsed. */
  readonly metadata: Readonly<Record<string, string>>;
}

export async function streamsOf(
  store: StoreFlags,
  { startNs, endNs }: TimeWindow,
  selector?: string,
): Promise<readonly StreamLabels[]> {
  const params = new URLSearchParams({ start: `${startNs}`, end: `${endNs}` });
  if (selector !== undefined) params.set('match[]', selector);
  return persistently(() =>
    fetchJson(store, {
      path: SERIES_PATH,
      params,
      read: body => (body as { data: StreamLabels[] }).data.map(each => ({ ...each })),
    }),
  );
}

/** Entries of the window in time order, page by page. */
export async function* entryPages(
  store: StoreFlags,
  { query, window, batch }: { readonly query: string; readonly window: TimeWindow; readonly batch: number },
): AsyncGenerator<readonly MigratedEntry[]> {
  const request = { query, ...window, limit: Number.POSITIVE_INFINITY, batch, direction: 'forward' as const };
  for await (const page of logPages(each => persistently(() => fetchEntries(store, each)), request))
    if (page.kind === 'streams') yield page.entries as readonly MigratedEntry[];
}

interface CategorizedStream {
  readonly stream: StreamLabels;
  readonly values: readonly (readonly [
    string,
    string,
    { readonly structuredMetadata?: StreamLabels; readonly parsed?: StreamLabels }?,
  ])[];
}

async function fetchEntries(store: StoreFlags, request: RangeRequest): Promise<RangeAnswer> {
  const url = endpoint(store, RANGE_PATH);
  const { query, startNs, endNs, limit, direction } = request;
  const params = { query, start: `${startNs}`, end: `${endNs}`, limit: `${limit}`, direction };
  url.search = new URLSearchParams(params).toString();
  const answer = await sendRequest(store, url, {
    method: 'GET',
    headers: CATEGORIES,
    timeoutMs: REQUEST_TIMEOUT_MS,
  });
  if (answer.status !== 200) throw failureOf(answer.status, refusal(answer));
  const body = parseAnswer(answer.text) as {
    data: { resultType: string; result: readonly CategorizedStream[] };
  };
  if (body.data.resultType !== 'streams')
    throw new CommandError('expected a log query; this is a metric query');
  const entries = understood(() =>
    body.data.result.flatMap(({ stream, values }) =>
      values.map(
        ([ns, line, categories]): MigratedEntry => ({
          timeNs: BigInt(ns),
          labels: stream,
          line,
          metadata: { ...categories?.structuredMetadata, ...categories?.parsed },
        }),
      ),
    ),
  );
  entries.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
  return { kind: 'streams', entries, warnings: [] };
}

export interface CountRequest {
  readonly selector: string;
  /** Names of the labels that distinguish streams. */
  readonly names: readonly string[];
  readonly window: TimeWindow;
  /** Streams to count one by one if the store refuses to count all in one query. */
  readonly streams: readonly StreamLabels[];
}

const TOO_MANY_SERIES = /maximum (?:of|number of) series/i;

/** Number of entries of each stream in the window, by `streamKey`. */
export async function fetchCounts(
  store: StoreFlags,
  { selector, names, window, streams }: CountRequest,
): Promise<ReadonlyMap<string, number>> {
  const seconds = `${(window.endNs - window.startNs) / NS_PER_MS}ms`;
  // A LogQL range is open at its start and closed at its end.
  const timeNs = window.endNs - 1n;
  const fetchCount = (query: string) => persistently(() => fetchInstant(store, { query, timeNs, limit: 1 }));
  const sumBy = `sum by (${names.join(', ')})`;
  try {
    const answer = await fetchCount(`${sumBy} (count_over_time(${selector}[${seconds}]))`);
    return new Map(
      seriesOf(answer).map(({ labels, samples }) => [streamKey(labels, names), Number(samples[0].value)]),
    );
  } catch (error) {
    if (!(error instanceof CommandError && TOO_MANY_SERIES.test(error.message))) throw error;
  }
  const counts = new Map<string, number>();
  await mapAtOnce(streams, COUNTS_AT_ONCE, async stream => {
    const answer = await fetchCount(`sum (count_over_time(${streamSelector(stream, names)}[${seconds}]))`);
    const [series] = seriesOf(answer);
    if (series !== undefined) counts.set(streamKey(stream, names), Number(series.samples[0].value));
  });
  return counts;
}

function seriesOf(answer: RangeAnswer) {
  if (answer.kind === 'streams')
    throw new CommandError(
      'unexpected response to a count: it contains entries; check that the address points to a Logboom or Loki server',
    );
  return answer.series;
}

/** Transient failure. */
class PassingError extends CommandError {}

function failureOf(status: number, message: string): CommandError {
  return status === 429 || status >= 500 ? new PassingError(message) : new CommandError(message);
}

/** Retries transient failures: throttling, server errors, broken connections. */
export function persistently<T>(work: () => Promise<T>): Promise<T> {
  return retried(RESTART_RETRIES, isTemporary, work);
}

function isTemporary(error: unknown): boolean {
  return (
    error instanceof PassingError ||
    error instanceof UnreachableError ||
    (error instanceof CommandError && /^(?:429|5\d\d) /.test(error.message))
  );
}
