/**
 * detected_fields and detected_field/{name}/values (docs/dev/wire-format.md#response-of-detected-fields): a log query whose lines are
 * parsed. Like the reference, it responds without an envelope, and with `{}` if nothing was found.
 */

import { BadRequestError } from '../../../base/model/errors.ts';
import { parseQuery } from '../../../language/logql/parse.ts';
import { type EntriesOf, findFields } from '../../../read/insight/detected/detect-fields.ts';
import { detectValues } from '../../../read/insight/detected/detect-values.ts';
import type { Requester } from '../../../read/query/engine.ts';
import type { HttpContext } from '../context.ts';
import { type Params, param, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { limitParam, rangeParams, stepParam } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { requesterOf, warned } from './query.ts';

/** Limit for fields, or for the values of one. */
const DEFAULT_FIELD_LIMIT = 1000;

export const showDetectedFields: Handler<HttpContext> = async (context, request) => {
  const { requester, entriesOf, limit } = asked(context, request);
  const found = await findFields(entriesOf, { limit, signal: request.signal });
  return json({ ...(found.fields.length === 0 ? {} : found), ...warned(requester) });
};

export const listDetectedValues: Handler<HttpContext> = async (context, request) => {
  const { name } = request.pathParams;
  const { requester, entriesOf, limit } = asked(context, request);
  const found = await detectValues(await entriesOf(name), name, { limit, signal: request.signal });
  return json({ ...(found.values.length === 0 ? {} : found), ...warned(requester) });
};

interface DetectionRequest {
  readonly requester: Requester;
  /**
   * Entries to parse, latest first. With a field, entries whose columns contain it come without their lines
   * (LogRequest.field). Throws ClientError.
   */
  readonly entriesOf: EntriesOf;
  readonly limit: number;
}

/** Throws ClientError. */
function asked(context: HttpContext, request: RoutedRequest): DetectionRequest {
  const requester = requesterOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeParams(params, context.clock.nowNs());
  const limit = fieldLimit(params);
  const lineLimit = limitParam(params, 'line_limit');
  const stepNs = stepParam(params, range);
  const text = param(params, 'query');
  const expr = parseQuery(text);
  if (expr.kind !== 'log') throw new BadRequestError('only log selector is supported');
  const query = { ...range, text, expr, limit: lineLimit, backward: true, stepNs };
  return {
    requester,
    limit,
    async entriesOf(field) {
      const detected = { ...query, intervalNs: 0n, categorize: true, field };
      const { result } = await context.engine.range(detected, requester);
      return result.kind === 'streams' ? result.streams : [];
    },
  };
}

/** `field_limit` is the older name. */
function fieldLimit(params: Params): number {
  const name = param(params, 'limit') === '' ? 'field_limit' : 'limit';
  return limitParam(params, name, { initial: DEFAULT_FIELD_LIMIT });
}
