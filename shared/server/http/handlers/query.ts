/** query_range, query and format_query (docs/dev/wire-format.md#queries, #format-a-query). */

import { ClientError } from '../../../base/model/errors.ts';
import { parseQuery } from '../../../language/logql/parse.ts';
import { prettyPrint } from '../../../language/logql/pretty.ts';
import type { QueryAnswer, Requester } from '../../../read/query/engine.ts';
import { combineLimits } from '../../../read/query/query-limits.ts';
import type { HttpContext } from '../context.ts';
import { showsPartialResults } from '../dashboard-client.ts';
import { CATEGORIZE_FLAG, encodeAnswer } from '../encode-answer.ts';
import { encodeExplain } from '../encode-explain.ts';
import type { HttpRequest, HttpResponse } from '../message.ts';
import { type Params, param, parseParams } from '../params.ts';
import { encodeParquet } from '../parquet.ts';
import { PARQUET_TYPE, parquetWanted, refuseParquet } from '../parquet-request.ts';
import { booleanParam, instantQueryParams, rangeQueryParams } from '../query-params.ts';
import { json, jsonText } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { queriedTenants } from '../tenant.ts';

export const queryRange: Handler<HttpContext> = async (context, request) => {
  const ofRequest = requesterOf(context, request);
  const parquet = parquetWanted(request.headers, context.config.frontend);
  // A file shows no warnings, so it is whole or an error.
  const requester = parquet ? { ...ofRequest, deadlineMs: undefined } : ofRequest;
  const sent = parseParams(request);
  const { direction, query, ...params } = rangeQueryParams(sent, context.clock.nowNs());
  const flags = encodingFlags(request);
  const answer = await context.engine.range(
    {
      ...params,
      text: query,
      expr: parseQuery(query),
      backward: direction === 'backward',
      categorize: flags.includes(CATEGORIZE_FLAG),
    },
    explaining(requester, sent),
  );
  if (parquet) return answeredInParquet(answer, request);
  // Encoding counts as CPU time of the tenant, in one time slice.
  const { scheduler } = context.reading.source;
  const startedMs = scheduler.nowMs();
  const response = answered(answer, { flags, sent, requester });
  scheduler.charge(requester.tenantsKey, startedMs);
  return response;
};

export const queryInstant: Handler<HttpContext> = async (context, request) => {
  const ofRequest = requesterOf(context, request);
  const parquet = parquetWanted(request.headers, context.config.frontend);
  // A file shows no warnings, so it is whole or an error.
  const requester = parquet ? { ...ofRequest, deadlineMs: undefined } : ofRequest;
  const sent = parseParams(request);
  const { query, timeNs } = instantQueryParams(sent, context.clock.nowNs());
  const asked = { text: query, expr: parseQuery(query), timeNs };
  const answer = await context.engine.instant(asked, explaining(requester, sent));
  if (parquet) return answeredInParquet(answer, request);
  return answered(answer, { flags: encodingFlags(request), sent, requester });
};

export const formatQuery: Handler<HttpContext> = async (_context, request) => {
  refuseParquet(request.headers);
  try {
    return json({ status: 'success', data: prettyPrint(parseQuery(param(parseParams(request), 'query'))) });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return json({ status: 'invalid-query', error: error.message }, 400);
  }
};

function answered(
  answer: QueryAnswer,
  { flags, sent, requester }: { flags: readonly string[]; sent: Params; requester: Requester },
): HttpResponse {
  const { warnings } = requester;
  const explained = booleanParam(sent, 'explain', false) ? encodeExplain(answer) : undefined;
  return jsonText(encodeAnswer(answer, { flags, warnings, explained }));
}

/** Warnings about limits that cut the response, to spread into a JSON response. */
export function warned({ warnings = [] }: Requester): { readonly warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {};
}

async function answeredInParquet(answer: QueryAnswer, { signal }: HttpRequest): Promise<HttpResponse> {
  const body = await encodeParquet(answer, signal);
  return { status: 200, headers: { 'content-type': PARQUET_TYPE }, body };
}

/** Tenants of a query request with their limits. Throws ClientError. */
export function requesterOf(context: HttpContext, request: HttpRequest): Requester {
  const { headers, signal, deadlineMs } = request;
  const { ids: tenants, key: tenantsKey } = queriedTenants(request, context.config);
  const limits = combineLimits(tenants.map(tenant => context.limitsOf(tenant)));
  const tags = headers['x-query-tags'] ?? '';
  const warnings = showsPartialResults(headers) ? [] : undefined;
  const skipsCache = /(^|,)\s*no-cache\s*(,|$)/i.test(headers['cache-control'] ?? '');
  return { tenants, tenantsKey, limits, signal, deadlineMs, tags, warnings, skipsCache };
}

/** Disables the results cache, because an explanation needs the work of the query. */
function explaining(requester: Requester, sent: Params): Requester {
  return booleanParam(sent, 'explain', false)
    ? { ...requester, skipsCache: true, wantsRounds: true }
    : requester;
}

function encodingFlags({ headers }: HttpRequest): readonly string[] {
  const header = headers['x-loki-response-encoding-flags'];
  return header === undefined || header === '' ? [] : header.split(',');
}
