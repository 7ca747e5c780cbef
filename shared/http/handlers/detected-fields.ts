/**
 * detected_fields and detected_field/{name}/values (wire-format reference, 3.8): a log query whose lines are looked into.
 * Without an envelope, and `{}` where nothing was found, as the reference answers.
 */

import { detectFields } from '../../insight/detected/detect-fields.ts';
import { detectValues } from '../../insight/detected/detect-values.ts';
import { parseQuery } from '../../logql/parse.ts';
import { BadRequestError } from '../../model/errors.ts';
import type { LogStream } from '../../query/log-query.ts';
import type { HttpContext } from '../context.ts';
import type { Response } from '../message.ts';
import { type Params, param, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { limitParam, rangeParams, stepParam } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { askerOf } from './query.ts';

/** Fields, or values of one. */
const DEFAULT_FIELD_LIMIT = 1000;

export const showDetectedFields: Handler<HttpContext> = async (context, request) => {
  const { streams, limit } = await asked(context, request);
  const found = await detectFields(streams, { limit, signal: request.signal });
  return found.fields.length === 0 ? nothing() : json(found);
};

export const listDetectedValues: Handler<HttpContext> = async (context, request) => {
  const { name } = request.pathParams;
  const { streams, limit } = await asked(context, request, name);
  const found = await detectValues(streams, name, { limit, signal: request.signal });
  return found.values.length === 0 ? nothing() : json(found);
};

function nothing(): Response {
  return json({});
}

/**
 * The entries to look into, latest first; with `field` those whose field columns know come without their lines. Throws
 * ClientError.
 */
async function asked(
  context: HttpContext,
  request: RoutedRequest,
  field?: string,
): Promise<{ readonly streams: readonly LogStream[]; readonly limit: number }> {
  const asker = askerOf(context, request);
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
  const detected = { ...query, intervalNs: 0n, categorize: true, field };
  const { result } = await context.engine.range(detected, asker);
  return { streams: result.kind === 'streams' ? result.streams : [], limit };
}

/** `field_limit` is the older name. */
function fieldLimit(params: Params): number {
  const name = param(params, 'limit') === '' ? 'field_limit' : 'limit';
  return limitParam(params, name, { initial: DEFAULT_FIELD_LIMIT });
}
