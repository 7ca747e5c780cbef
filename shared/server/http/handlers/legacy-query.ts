/**
 * Endpoints of older clients (docs/dev/wire-format.md#older-clients).
 *
 * Pitfall: the old `query` is a range query, and its response has labels as text and times as RFC 3339.
 */

import { BadRequestError } from '../../../base/model/errors.ts';
import { formatLabels } from '../../../base/model/labels.ts';
import { quote } from '../../../base/model/quote.ts';
import { formatRfc3339Nano } from '../../../base/model/rfc3339.ts';
import { parseQuery } from '../../../language/logql/parse.ts';
import type { HttpContext } from '../context.ts';
import { statisticsTree } from '../encode-statistics.ts';
import type { HttpResponse } from '../message.ts';
import { param, parseParams } from '../params.ts';
import { rangeQueryParams } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { requesterOf } from './query.ts';
import { listLabels, listLabelValues } from './streams.ts';

export const queryLegacy: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  const sent = parseParams(request);
  const { direction, query, ...params } = rangeQueryParams(sent, context.clock.nowNs());
  const regexp = param(sent, 'regexp');
  if (parseQuery(query).kind !== 'log') {
    throw new BadRequestError('legacy endpoints only support streams result type');
  }
  const text = regexp === '' ? query : `${query} |~ ${quote(regexp)}`;
  const backward = direction === 'backward';
  const range = { ...params, text, expr: parseQuery(text), backward, categorize: false };
  const answer = await context.engine.range(range, requester);
  const streams = answer.result.kind === 'streams' ? answer.result.streams : [];
  return json({
    streams: streams.map(({ labels, entries }) => ({
      labels: formatLabels(labels),
      entries: entries.map(({ timeNs, line }) => ({ ts: formatRfc3339Nano(timeNs), line })),
    })),
    stats: statisticsTree(answer),
  });
};

export const listLegacyLabels: Handler<HttpContext> = (context, request) =>
  withValues(listLabels, context, request);

export const listLegacyValues: Handler<HttpContext> = (context, request) =>
  withValues(listLabelValues, context, request);

/** Both formats in one object: old clients read `values`. */
async function withValues(
  list: Handler<HttpContext>,
  context: HttpContext,
  request: RoutedRequest,
): Promise<HttpResponse> {
  const response = await list(context, request);
  if (response.status !== 200) return response;
  const answer = JSON.parse(Buffer.from(response.body).toString()) as { readonly data?: readonly string[] };
  return json({ ...answer, values: answer.data ?? [] });
}
