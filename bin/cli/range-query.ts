/** One request to query_range or query and its answer, checked as far as it is read. */
import { CommandError } from './command-error.ts';
import { askText, parseAnswer, understood } from './json-client.ts';
import type { StoreFlags } from './store-client.ts';

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
  /** As typed: entries of a stream closer together than this are left out. */
  readonly interval?: string;
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
  /** The same for its statistics. */
  readonly stats?: unknown;
}

export type RangeAnswer = Told &
  (
    | { readonly kind: 'streams'; readonly entries: readonly LogEntry[] }
    | { readonly kind: 'matrix'; readonly series: readonly Series[] }
    /** Series of one sample each; what is of type scalar too. */
    | { readonly kind: 'vector'; readonly series: readonly Series[] }
  );

export type AskRange = (request: RangeRequest) => Promise<RangeAnswer>;

const RANGE_PATH = '/loki/api/v1/query_range';
const INSTANT_PATH = '/loki/api/v1/query';

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
  if (request.interval !== undefined) form.set('interval', request.interval);
  if (request.explain) form.set('explain', 'true');
  return readAnswer(await askText(store, RANGE_PATH, form), request.direction);
}

export interface InstantRequest extends Pick<RangeRequest, 'query' | 'limit' | 'explain'> {
  readonly timeNs: bigint;
}

/** A value for each series, as series of one sample. Throws CommandError. */
export async function askInstant(store: StoreFlags, request: InstantRequest): Promise<RangeAnswer> {
  const form = new URLSearchParams({
    query: request.query,
    time: `${request.timeNs}`,
    limit: `${request.limit}`,
    direction: 'backward',
  });
  if (request.explain) form.set('explain', 'true');
  return readAnswer(await askText(store, INSTANT_PATH, form), 'backward');
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

/** Entries of all streams in the order of their time; of equal times in the order of the answer. */
export function readAnswer(text: string, direction: Direction): RangeAnswer {
  const envelope = parseAnswer(text) as Envelope;
  const { resultType, result, explain, stats } = envelope?.data ?? {};
  const warnings = Array.isArray(envelope?.warnings) ? envelope.warnings.map(String) : [];
  if (!Array.isArray(result))
    throw new CommandError(
      'the response is not a query result; check that --addr points to a Logboom or Loki server',
    );
  const told = { warnings, explain, stats };
  return understood((): RangeAnswer => {
    switch (resultType) {
      case 'streams':
        return { kind: 'streams', entries: readEntries(result, direction), ...told };
      case 'matrix':
        return { kind: 'matrix', series: readSeries(result), ...told };
      case 'vector':
        return { kind: 'vector', series: readVector(result), ...told };
      case 'scalar':
        return {
          kind: 'vector',
          series: readVector([{ metric: {}, value: [Number(result[0]), String(result[1])] }]),
          ...told,
        };
      default:
        throw new CommandError(
          `the answer is of type ${String(resultType)}, which this command does not read`,
        );
    }
  });
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

type Sample = readonly [number, string];

interface SeriesJson {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly Sample[];
}

interface VectorJson {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: Sample;
}

export function readSeries(result: readonly SeriesJson[]): Series[] {
  return result.map(({ metric, values }) => ({ labels: metric, samples: values.map(readSample) }));
}

export function readVector(result: readonly VectorJson[]): Series[] {
  return result.map(({ metric, value }) => ({ labels: metric, samples: [readSample(value)] }));
}

/** Seconds with up to three decimals: whole milliseconds. */
function readSample([time, value]: Sample): Series['samples'][number] {
  return { timeNs: BigInt(Math.round(time * 1000)) * 1_000_000n, value };
}
