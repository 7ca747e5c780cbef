/**
 * Parses a request for a live tail before the connection is opened (docs/dev/wire-format.md#before-the-upgrade), so its
 * errors are plain HTTP. Later errors close the connection (shared/read/tail/tail-service.ts).
 */

import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import { MAX_DELAY_SECONDS } from '../../read/tail/bounds.ts';
import type { TailRequest } from '../../read/tail/tail-service.ts';
import type { HttpRequest } from './message.ts';
import { type Params, param, parseParams } from './params.ts';
import { limitParam, rangeParams } from './query-params.ts';
import { pathsOf } from './routes.ts';
import { parseInt64 } from './strconv.ts';
import { singleTenant } from './tenant.ts';
import { parseTimestamp } from './timestamp.ts';

export const TAIL_PATH = '/svc/api/v1/tail';
export const LEGACY_TAIL_PATH = '/api/compat/tail';

const LEGACY_PATHS = new Set(pathsOf({ path: LEGACY_TAIL_PATH }));
const PATHS = new Set([...pathsOf({ path: TAIL_PATH }), ...LEGACY_PATHS]);

export function isTailPath(path: string): boolean {
  return PATHS.has(path);
}

/** Throws ClientError. */
export function tailRequestOf(request: HttpRequest, nowNs: bigint): TailRequest {
  const tenant = singleTenant(request);
  const params = parseParams(request);
  const query = param(params, 'query');
  // Only for its errors: the server of the tail evaluates the query.
  parseQuery(query);
  const startNs = startParam(params, nowNs);
  const limit = limitParam(params);
  const delayMs = delayParam(param(params, 'delay_for'));
  const form = LEGACY_PATHS.has(request.path) ? 'legacy' : 'current';
  const flags = request.headers['x-loki-response-encoding-flags'];
  return { tenant, query, form, limit, startNs, delayMs, flags: flags ? flags.split(',') : [] };
}

/** `end` is read for its errors, and as the base of `since`. A start in the future is not an error. */
function startParam(params: Params, nowNs: bigint): bigint {
  const text = param(params, 'start');
  const { startNs } = rangeParams(new Map([...params].filter(([name]) => name !== 'start')), nowNs);
  if (text === '') return startNs;
  try {
    return parseTimestamp(text);
  } catch (error) {
    throw new BadRequestError(`could not parse 'start' parameter: ${messageOf(error)}`, { cause: error });
  }
}

function delayParam(text: string): number {
  if (text === '') return 0;
  const seconds = parseInt64(text, 'Atoi');
  if (seconds > BigInt(MAX_DELAY_SECONDS)) {
    throw new BadRequestError(`delay_for can't be greater than ${MAX_DELAY_SECONDS}`);
  }
  // The reference treats negative values as 0.
  return seconds < 0n ? 0 : Number(seconds) * 1000;
}
