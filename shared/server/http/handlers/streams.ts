/** labels, label values and series (docs/dev/wire-format.md#labels-and-series). */

import { BadRequestError } from '../../../base/model/errors.ts';
import { labelsToObject } from '../../../base/model/labels.ts';
import type { Stream } from '../../../base/model/page.ts';
import type { Matcher } from '../../../language/logql/ast.ts';
import { parseSelector } from '../../../language/logql/parse.ts';
import type { Requester } from '../../../read/query/engine.ts';
import { LabelNames, LabelValues } from '../../../read/query/streams-query.ts';
import { TENANT_LABEL } from '../../../read/query/tenant-view.ts';
import type { HttpContext } from '../context.ts';
import type { HttpResponse } from '../message.ts';
import { type Params, param, paramValues, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { LABELS_SINCE_NS, rangeParams } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { isEmptySelector } from '../selector-params.ts';
import { requesterOf, warned } from './query.ts';

export const listLabels: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  const labels = new LabelNames();
  await visitLabeled(context, request, requester, labels.add);
  const names = labels.list();
  return list(
    requester.tenants.length > 1 ? [...new Set([...names, TENANT_LABEL])].sort() : names,
    requester,
  );
};

export const listLabelValues: Handler<HttpContext> = async (context, request) => {
  const { name } = request.pathParams;
  const requester = requesterOf(context, request);
  const values = new LabelValues(name);
  await visitLabeled(context, request, requester, values.add);
  return list(name === TENANT_LABEL ? requester.tenants : values.list(), requester);
};

export const listSeries: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeParams(params, context.clock.nowNs());
  const streams = await context.engine.streams(seriesSelectors(params), afterStart(range), requester);
  return json({
    status: 'success',
    data: streams.map(({ labels }) => labelsToObject(labels)),
    ...warned(requester),
  });
};

/** Passes the streams that the optional `query` selects to the visitor. Throws ClientError. */
function visitLabeled(
  context: HttpContext,
  request: RoutedRequest,
  requester: Requester,
  visit: (stream: Stream) => void,
): Promise<void> {
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeParams(params, context.clock.nowNs(), { defaultSinceNs: LABELS_SINCE_NS });
  const query = param(params, 'query');
  const selectors = query === '' ? [] : [parseSelector(query)];
  return context.engine.visitStreams(selectors, afterStart(range), requester, visit);
}

/** Selectors of `match[]` and `match`. Without any, or with only `{}`, every stream matches. */
function seriesSelectors(params: Params): (readonly Matcher[])[] {
  const groups = [...new Set([...paramValues(params, 'match[]'), ...paramValues(params, 'match')])];
  if (groups.length === 0 || (groups.length === 1 && isEmptySelector(groups[0]))) return [];
  return groups.map(group => {
    if (isEmptySelector(group)) throw new BadRequestError(`0 matchers in group: ${group}`);
    return parseSelector(group);
  });
}

/**
 * Includes an entry at the end of the range, as metadata endpoints do. A range of a single instant then has
 * it too.
 */
export function afterStart({ startNs, endNs }: { startNs: bigint; endNs: bigint }) {
  return { startNs, endNs: endNs + 1n };
}

/** The reference omits an empty `data`. */
function list(data: readonly string[], requester: Requester): HttpResponse {
  return json({ status: 'success', ...(data.length === 0 ? {} : { data }), ...warned(requester) });
}
