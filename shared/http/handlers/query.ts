/** query_range, query and format_query (wire-format reference, 3 and 7.8). */

import { parseQuery } from '../../logql/parse.ts';
import { prettyPrint } from '../../logql/pretty.ts';
import { ClientError } from '../../model/errors.ts';
import type { Asker, QueryAnswer } from '../../query/engine.ts';
import { combineLimits } from '../../query/query-limits.ts';
import type { HttpContext } from '../context.ts';
import { CATEGORIZE_FLAG, encodeAnswer } from '../encode-answer.ts';
import type { Request, Response } from '../message.ts';
import { param, parseParams } from '../params.ts';
import { instantQueryParams, rangeQueryParams } from '../query-params.ts';
import { json, jsonText } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { resolveTenants } from '../tenant.ts';

export const queryRange: Handler<HttpContext> = async (context, request) => {
  const asker = askerOf(context, request);
  const { direction, query, ...params } = rangeQueryParams(parseParams(request), context.clock.nowNs());
  const flags = encodingFlags(request);
  const answer = await context.engine.range(
    {
      ...params,
      expr: parseQuery(query),
      backward: direction === 'backward',
      categorize: flags.includes(CATEGORIZE_FLAG),
    },
    asker,
  );
  return answered(answer, flags);
};

export const queryInstant: Handler<HttpContext> = async (context, request) => {
  const asker = askerOf(context, request);
  const { query, timeNs } = instantQueryParams(parseParams(request), context.clock.nowNs());
  return answered(
    await context.engine.instant({ expr: parseQuery(query), timeNs }, asker),
    encodingFlags(request),
  );
};

export const formatQuery: Handler<HttpContext> = async (_context, request) => {
  try {
    return json({ status: 'success', data: prettyPrint(parseQuery(param(parseParams(request), 'query'))) });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return json({ status: 'invalid-query', error: error.message }, 400);
  }
};

function answered(answer: QueryAnswer, flags: readonly string[]): Response {
  return jsonText(encodeAnswer(answer, { flags }));
}

/** The tenants of a query request with their limits. Throws ClientError. */
export function askerOf(context: HttpContext, { headers, signal }: Request): Asker {
  const tenants = resolveTenants(headers, context.config);
  const limits = combineLimits(tenants.map(tenant => context.limitsOf(tenant)));
  const tags = headers['x-query-tags'] ?? '';
  return { tenants, limits, signal, partial: /(^|,)\s*Source=grafana-lokiexplore-app/i.test(tags) };
}

function encodingFlags({ headers }: Request): readonly string[] {
  const header = headers['x-loki-response-encoding-flags'];
  return header === undefined || header === '' ? [] : header.split(',');
}
