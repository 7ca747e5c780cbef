/**
 * Parameters of delete requests, with the reference's validation and messages (docs/dev/wire-format.md#create-a-request and
 * 5.3). They are read from the URL only, whatever the method. The order of the checks decides which of
 * several errors a client gets. All functions throw BadRequestError.
 *
 * Pitfall: times must be Unix seconds of exactly ten characters, or RFC 3339. Other formats of queries are
 * invalid. They are truncated to whole milliseconds, which is what a list shows.
 */

import { formatGoDuration, parseGoDuration } from '../../base/model/duration.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Stage } from '../../language/logql/ast.ts';
import { parseDeleteQuery } from '../../upkeep/deletion/delete-query.ts';
import type { NewDeleteRequest } from '../../upkeep/deletion/delete-service.ts';
import type { HttpRequest } from './message.ts';
import { type Params, param, parseParams } from './params.ts';
import type { RequestRange } from './query-params.ts';
import { parseRfc3339 } from './timestamp.ts';

const SECONDS = /^[+-]?[0-9]+$/;
const SECONDS_CHARACTERS = 10;

/** Parameters of the URL. */
export function urlParams(request: HttpRequest): Params {
  return parseParams({ ...request, body: new Uint8Array(0) });
}

/** @param maxIntervalMs maximum part of a request; 0 divides requests only if they set an interval */
export function newDeleteParams(
  params: Params,
  { clock, maxIntervalMs }: { readonly clock: Clock; readonly maxIntervalMs: number },
): NewDeleteRequest {
  const query = param(params, 'query');
  if (query === '') throw new BadRequestError('query not set');
  const { stages } = parseDeleteQuery(query, { clock });
  const startText = param(params, 'start');
  if (startText === '') throw new BadRequestError('start time not set');
  const startNs = timeOf('start', startText);
  const nowNs = wholeMs(clock.nowNs());
  const endText = param(params, 'end');
  const endNs = endText === '' ? nowNs : timeOf('end', endText);
  if (endNs > nowNs) throw new BadRequestError('deletes in the future are not allowed');
  if (startNs >= endNs) {
    throw new BadRequestError("start time can't be greater than or equal to end time");
  }
  // Whole streams are deleted in one part, whatever interval is set.
  if (!stages.some(filters)) return { query, startNs, endNs, intervalNs: 0n };
  const longestNs = BigInt(maxIntervalMs) * NS_PER_MS;
  const givenNs = intervalOf(param(params, 'max_interval'), { longestNs, rangeNs: endNs - startNs });
  return { query, startNs, endNs, intervalNs: givenNs ?? longestNs };
}

/** False for stages that keep every line: parsers, formats, and empty filters. */
function filters(stage: Stage): boolean {
  if (stage.kind !== 'lineFilter') return stage.kind === 'labelFilter';
  const { op, operand, alternatives } = stage;
  return (op !== '|=' && op !== '|~') || [operand, ...alternatives].some(({ value }) => value !== '');
}

/** Range that narrows a list; `undefined` unless both ends are given. */
export function listRange(params: Params): RequestRange | undefined {
  const [start, end] = [param(params, 'start'), param(params, 'end')];
  if (start === '' || end === '') return undefined;
  return { startNs: timeOf('start', start), endNs: timeOf('end', end) };
}

function timeOf(name: 'start' | 'end', text: string): bigint {
  const isSeconds = text.length === SECONDS_CHARACTERS && SECONDS.test(text);
  const ns = isSeconds ? BigInt(text.replace('+', '')) * NS_PER_SECOND : parseRfc3339(text);
  if (ns === undefined) {
    throw new BadRequestError(`invalid ${name} time: require unix seconds or RFC3339 format`);
  }
  return wholeMs(ns);
}

function intervalOf(
  text: string,
  { longestNs, rangeNs }: { readonly longestNs: bigint; readonly rangeNs: bigint },
): bigint | undefined {
  if (text === '') return undefined;
  const ns = durationOf(text);
  if (ns === undefined || ns < NS_PER_SECOND) {
    throw new BadRequestError("invalid max_interval: valid time units are 's', 'm', 'h'");
  }
  if (longestNs > 0n && ns > longestNs) {
    throw new BadRequestError(`max_interval can't be greater than ${formatGoDuration(longestNs)}`);
  }
  if (ns > rangeNs) {
    const range = formatGoDuration(rangeNs);
    throw new BadRequestError(`max_interval can't be greater than the interval to be deleted (${range})`);
  }
  return ns;
}

function durationOf(text: string): bigint | undefined {
  try {
    return parseGoDuration(text);
  } catch {
    return undefined;
  }
}

/** Rounds towards zero. */
function wholeMs(ns: bigint): bigint {
  return ns - (ns % NS_PER_MS);
}
