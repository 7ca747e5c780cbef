/** One request to query_range or query, and its response, validated as far as it is used. */
import { CommandError } from './command-error.ts';
import { fetchText, parseAnswer, understood } from './json-client.ts';
import type { StoreFlags } from './store-client.ts';

export type Direction = 'forward' | 'backward';

export interface RangeRequest {
  readonly query: string;
  /** Unix ns. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
  /** Step as typed; the store chooses it if absent. */
  readonly step?: string;
  /** Interval as typed: the store omits entries of a stream that are closer together. */
  readonly interval?: string;
  /** Requests the explanation of the query. */
  readonly explain?: boolean;
}

export interface PrintedEntry {
  readonly timeNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
}

export interface PrintedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly { readonly timeNs: bigint; readonly value: string }[];
}

interface ResponseDetails {
  readonly warnings: readonly string[];
  /** Explanation as the store returned it; undefined if it returned none. */
  readonly explain?: unknown;
  /** Statistics as the store returned them; undefined if it returned none. */
  readonly stats?: unknown;
}

export type RangeAnswer = ResponseDetails &
  (
    | { readonly kind: 'streams'; readonly entries: readonly PrintedEntry[] }
    | { readonly kind: 'matrix'; readonly series: readonly PrintedSeries[] }
    /** Series of one sample each; also used for results of type scalar. */
    | { readonly kind: 'vector'; readonly series: readonly PrintedSeries[] }
  );

export type FetchRange = (request: RangeRequest) => Promise<RangeAnswer>;

const RANGE_PATH = '/loki/api/v1/query_range';
const INSTANT_PATH = '/loki/api/v1/query';

/** Runs a range query. Throws CommandError with the store's message. */
export async function fetchRange(store: StoreFlags, request: RangeRequest): Promise<RangeAnswer> {
  const form = new URLSearchParams({
    query: request.query,
    start: `${request.startNs}`,
    end: `${request.endNs}`,
    limit: `${request.limit}`,
    direction: request.direction,
  });
  if (request.step !== undefined) form.set('step', request.step);
  if (request.interval !== undefined) form.set('interval', request.interval);
  if (request.explain) form.set('explain', 'true');
  return readAnswer(await fetchText(store, RANGE_PATH, form), request.direction);
}

interface InstantRequest extends Pick<RangeRequest, 'query' | 'limit' | 'explain'> {
  readonly timeNs: bigint;
}

/** Runs an instant query: a value for each series, as series of one sample. Throws CommandError. */
export async function fetchInstant(store: StoreFlags, request: InstantRequest): Promise<RangeAnswer> {
  const form = new URLSearchParams({
    query: request.query,
    time: `${request.timeNs}`,
    limit: `${request.limit}`,
    direction: 'backward',
  });
  if (request.explain) form.set('explain', 'true');
  return readAnswer(await fetchText(store, INSTANT_PATH, form), 'backward');
}

interface Envelope {
  readonly data?: {
    readonly resultType?: unknown;
    readonly result?: unknown;
    readonly explain?: unknown;
    readonly stats?: unknown;
  };
  readonly warnings?: unknown;
}

/** Entries of all streams in time order; equal times keep the order of the response. */
export function readAnswer(text: string, direction: Direction): RangeAnswer {
  const envelope = parseAnswer(text) as Envelope;
  const { resultType, result, explain, stats } = envelope?.data ?? {};
  const warnings = Array.isArray(envelope?.warnings) ? envelope.warnings.map(String) : [];
  if (!Array.isArray(result))
    throw new CommandError(
      'the response is not a query result; check that --addr points to a Logboom or Loki server',
    );
  const details = { warnings, explain, stats };
  return understood((): RangeAnswer => {
    switch (resultType) {
      case 'streams':
        return { kind: 'streams', entries: readEntries(result, direction), ...details };
      case 'matrix':
        return { kind: 'matrix', series: readSeries(result), ...details };
      case 'vector':
        return { kind: 'vector', series: readVector(result), ...details };
      case 'scalar':
        return {
          kind: 'vector',
          series: readVector([{ metric: {}, value: [Number(result[0]), String(result[1])] }]),
          ...details,
        };
      default:
        throw new CommandError(
          `unexpected result type ${String(resultType)}; check that --addr points to a Logboom or Loki server`,
        );
    }
  });
}

interface StreamJson {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [string, string])[];
}

function readEntries(result: readonly StreamJson[], direction: Direction): PrintedEntry[] {
  const entries: PrintedEntry[] = [];
  for (const { stream, values } of result) {
    for (const [time, line] of values) entries.push({ timeNs: BigInt(time), labels: stream, line });
  }
  const sign = direction === 'forward' ? 1 : -1;
  // The sort is stable.
  return entries.sort((a, b) => (a.timeNs < b.timeNs ? -sign : a.timeNs > b.timeNs ? sign : 0));
}

type Sample = readonly [number, string];

interface SeriesJson {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly Sample[];
}

interface VectorJson {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: Sample;
}

export function readSeries(result: readonly SeriesJson[]): PrintedSeries[] {
  return result.map(({ metric, values }) => ({ labels: metric, samples: values.map(readSample) }));
}

export function readVector(result: readonly VectorJson[]): PrintedSeries[] {
  return result.map(({ metric, value }) => ({ labels: metric, samples: [readSample(value)] }));
}

/** Timestamp in seconds with up to three decimals: whole milliseconds. */
function readSample([time, value]: Sample): PrintedSeries['samples'][number] {
  return { timeNs: BigInt(Math.round(time * 1000)) * 1_000_000n, value };
}
