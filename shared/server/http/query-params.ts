/**
 * Parameters of queries, with the reference's defaults, validation and messages (docs/dev/wire-format.md#parameters).
 * All functions throw BadRequestError. The order of the checks decides which of several errors a client gets.
 */

import { parsePrometheusDuration } from '../../base/model/duration.ts';
import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import { MAX_INT64, MIN_INT64 } from '../../base/model/int64.ts';
import { parseGoFloat } from '../../base/model/number.ts';
import { quote } from '../../base/model/quote.ts';
import { NS_PER_SECOND } from '../../base/model/time-units.ts';
import { type Params, param } from './params.ts';
import { parseInt64 } from './strconv.ts';
import { parseTimestamp } from './timestamp.ts';

type Direction = 'forward' | 'backward';

export interface RequestRange {
  /** Unix time, ns. */
  readonly startNs: bigint;
  /** At least `startNs`, unless mayEndFirst is set. */
  readonly endNs: bigint;
}

interface RangeOptions {
  readonly defaultSinceNs?: bigint;
  /** Allows a range that ends before it starts. */
  readonly mayEndFirst?: boolean;
}

const DEFAULT_LIMIT = 100;
/** Default range of range queries and of most metadata. */
const DEFAULT_SINCE_NS = 3600n * NS_PER_SECOND;
/** Default range of labels and label values (difference D17). */
export const LABELS_SINCE_NS = 6n * 3600n * NS_PER_SECOND;

const MAX_UINT32 = 4_294_967_295n;
/** Maximum points per series in a response, according to the reference's rule on range and step. */
export const MAX_POINTS = 11_000n;
/** Approximate number of points with the default step. */
const DEFAULT_POINTS = 250n;

export function rangeParams(
  params: Params,
  nowNs: bigint,
  { defaultSinceNs = DEFAULT_SINCE_NS, mayEndFirst = false }: RangeOptions = {},
): RequestRange {
  const sinceNs = named('since', params, parsePrometheusDuration) ?? defaultSinceNs;
  const endNs = named('end', params, parseTimestamp) ?? nowNs;
  const earlier = endNs < nowNs ? endNs : nowNs;
  const startNs = named('start', params, parseTimestamp) ?? earlier - sinceNs;
  if (endNs < startNs && !mayEndFirst)
    throw new BadRequestError('end timestamp must not be before or equal to start time');
  return { startNs, endNs };
}

/** Evaluation time of an instant query. Its error has no prefix, unlike those of a range. */
function timeParam(params: Params, nowNs: bigint): bigint {
  const text = param(params, 'time');
  return text === '' ? nowNs : parseTimestamp(text);
}

interface LimitOptions {
  readonly initial?: number;
  /** True for volume, which treats 0 as "not given". */
  readonly zeroIsInitial?: boolean;
}

export function limitParam(
  params: Params,
  name = 'limit',
  { initial = DEFAULT_LIMIT, zeroIsInitial = false }: LimitOptions = {},
): number {
  const text = param(params, name);
  if (text === '') return initial;
  const limit = parseInt64(text, 'Atoi');
  if (limit === 0n && zeroIsInitial) return initial;
  if (limit <= 0n) throw new BadRequestError('limit must be a positive value');
  if (limit > MAX_UINT32) {
    throw new BadRequestError(`limit value ${limit} is out of range [0, ${MAX_UINT32}]`);
  }
  return Number(limit);
}

function directionParam(params: Params): Direction {
  const text = param(params, 'direction');
  const direction = text.toLowerCase();
  if (text === '' || direction === 'backward') return 'backward';
  if (direction === 'forward') return 'forward';
  throw new BadRequestError(`invalid direction '${text}'`);
}

/** Step of a range in ns, greater than 0. The range must not have more than MAX_POINTS steps. */
export function stepParam(params: Params, { startNs, endNs }: RequestRange): bigint {
  const text = param(params, 'step');
  const stepNs = text === '' ? defaultStepNs({ startNs, endNs }) : parseStep(text);
  if (stepNs <= 0n) {
    throw new BadRequestError(
      'zero or negative query resolution step widths are not accepted. Try a positive integer',
    );
  }
  if ((endNs - startNs) / stepNs > MAX_POINTS) {
    throw new BadRequestError(
      'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
    );
  }
  return stepNs;
}

/** Minimum distance of entries in a response, ns; 0 returns every entry. */
function intervalParam(params: Params): bigint {
  const text = param(params, 'interval');
  const intervalNs = text === '' ? 0n : parseStep(text);
  if (intervalNs < 0n) throw new BadRequestError('interval must be >= 0');
  return intervalNs;
}

interface RangeQueryParams extends RequestRange {
  readonly query: string;
  readonly limit: number;
  readonly direction: Direction;
  readonly stepNs: bigint;
  readonly intervalNs: bigint;
}

/** All parameters of a range query. Its `query` is parsed after them. */
export function rangeQueryParams(params: Params, nowNs: bigint): RangeQueryParams {
  const range = rangeParams(params, nowNs);
  const limit = limitParam(params);
  const direction = directionParam(params);
  const stepNs = stepParam(params, range);
  const intervalNs = intervalParam(params);
  return { ...range, limit, direction, stepNs, intervalNs, query: param(params, 'query') };
}

interface InstantQueryParams {
  readonly query: string;
  readonly timeNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
}

export function instantQueryParams(params: Params, nowNs: bigint): InstantQueryParams {
  const timeNs = timeParam(params, nowNs);
  const limit = limitParam(params);
  const direction = directionParam(params);
  return { timeNs, limit, direction, query: param(params, 'query') };
}

/**
 * Parses a boolean of admin endpoints: `t`, `true`, `1` and their opposites in any case. Other values give
 * the default.
 */
export function booleanParam(params: Params, name: string, initial: boolean): boolean {
  const text = param(params, name).toLowerCase();
  if (['t', 'true', '1'].includes(text)) return true;
  if (['f', 'false', '0'].includes(text)) return false;
  return initial;
}

function defaultStepNs({ startNs, endNs }: RequestRange): bigint {
  const seconds = (endNs - startNs) / (DEFAULT_POINTS * NS_PER_SECOND);
  return (seconds > 1n ? seconds : 1n) * NS_PER_SECOND;
}

/**
 * A decimal number of seconds or a Prometheus duration, in ns. NaN counts as negative, like Go's conversion.
 */
function parseStep(text: string): bigint {
  const seconds = parseGoFloat(text);
  if (seconds !== undefined) {
    if (Number.isNaN(seconds)) return MIN_INT64;
    const ns = seconds * 1e9;
    if (ns > Number(MAX_INT64) || ns < Number(MIN_INT64)) {
      throw new BadRequestError(`cannot parse ${quote(text)} to a valid duration. It overflows int64`);
    }
    return BigInt(Math.trunc(ns));
  }
  try {
    return parsePrometheusDuration(text);
  } catch (error) {
    throw new BadRequestError(`cannot parse ${quote(text)} to a valid duration`, { cause: error });
  }
}

function named<T>(name: string, params: Params, parse: (text: string) => T): T | undefined {
  const text = param(params, name);
  if (text === '') return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw new BadRequestError(`could not parse '${name}' parameter: ${messageOf(error)}`, { cause: error });
  }
}
