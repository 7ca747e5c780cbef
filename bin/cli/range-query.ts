/** One request to query_range and its answer, checked as far as it is read. */
import { CommandError } from './command-error.ts';
import { ask, endpoint, refusal, type StoreFlags } from './store-client.ts';

export type Direction = 'forward' | 'backward';

export interface RangeRequest {
  readonly query: string;
  /** Unix ns. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
  /** As typed; the store chooses where it is absent. */
  readonly step?: string;
  /** Ask what the store looked at. */
  readonly explain?: boolean;
}

export interface LogEntry {
  readonly timeNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly { readonly timeNs: bigint; readonly value: string }[];
}

interface Told {
  readonly warnings: readonly string[];
  /** As the store gave it; undefined where it does not tell. */
  readonly explain?: unknown;
}

export type RangeAnswer = Told &
  (
    | { readonly kind: 'streams'; readonly entries: readonly LogEntry[] }
    | { readonly kind: 'matrix'; readonly series: readonly Series[] }
  );

export type AskRange = (request: RangeRequest) => Promise<RangeAnswer>;

const QUERY_PATH = '/loki/api/v1/query_range';
/** Proxies take URLs of 8 KB, the smallest of them 2; a longer request goes as a form. */
const MAX_URL_CHARACTERS = 2000;
/** Stores give up on a query after a minute or five. */
const REQUEST_TIMEOUT_MS = 600_000;

/** Asks the store. Throws CommandError with its message. */
export async function askRange(store: StoreFlags, request: RangeRequest): Promise<RangeAnswer> {
  const form = new URLSearchParams({
    query: request.query,
    start: `${request.startNs}`,
    end: `${request.endNs}`,
    limit: `${request.limit}`,
    direction: request.direction,
  });
  if (request.step !== undefined) form.set('step', request.step);
  if (request.explain) form.set('explain', 'true');
  const url = endpoint(store, QUERY_PATH);
  const byUrl = new URL(`${url.href}?${form}`);
  const timeoutMs = REQUEST_TIMEOUT_MS;
  const answer =
    byUrl.href.length <= MAX_URL_CHARACTERS
      ? await ask(store, byUrl, { method: 'GET', timeoutMs })
      : await ask(store, url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: form.toString(),
          timeoutMs,
        });
  if (answer.status !== 200) throw new CommandError(refusal(answer));
  return readAnswer(answer.text, request.direction);
}

interface Envelope {
  readonly data?: { readonly resultType?: unknown; readonly result?: unknown; readonly explain?: unknown };
  readonly warnings?: unknown;
}

/** Entries of all streams in the order of their time; of equal times in the order of the answer. */
export function readAnswer(text: string, direction: Direction): RangeAnswer {
  let envelope: Envelope;
  try {
    envelope = JSON.parse(text) as Envelope;
  } catch (error) {
    throw new CommandError(`the answer is no JSON; is this a log store? It begins: ${text.slice(0, 100)}`, {
      cause: error,
    });
  }
  const { resultType, result, explain } = envelope?.data ?? {};
  const warnings = Array.isArray(envelope?.warnings) ? envelope.warnings.map(String) : [];
  if (!Array.isArray(result))
    throw new CommandError('the answer holds no result of a query; is this a log store?');
  try {
    if (resultType === 'streams')
      return { kind: 'streams', entries: readEntries(result, direction), warnings, explain };
    if (resultType === 'matrix') return { kind: 'matrix', series: readSeries(result), warnings, explain };
  } catch (error) {
    throw new CommandError(`the answer is not as a log store's: ${(error as Error).message}`, {
      cause: error,
    });
  }
  throw new CommandError(`the answer is of type ${String(resultType)}, which this command does not read`);
}

interface StreamJson {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [string, string])[];
}

function readEntries(result: readonly StreamJson[], direction: Direction): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const { stream, values } of result) {
    for (const [time, line] of values) entries.push({ timeNs: BigInt(time), labels: stream, line });
  }
  const sign = direction === 'forward' ? 1 : -1;
  // The sort is stable.
  return entries.sort((a, b) => (a.timeNs < b.timeNs ? -sign : a.timeNs > b.timeNs ? sign : 0));
}

interface SeriesJson {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

function readSeries(result: readonly SeriesJson[]): Series[] {
  return result.map(({ metric, values }) => ({
    labels: metric,
    // Seconds with up to three decimals: whole milliseconds.
    samples: values.map(([time, value]) => ({ timeNs: BigInt(Math.round(time * 1000)) * 1_000_000n, value })),
  }));
}
