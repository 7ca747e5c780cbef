/** detected_labels (docs/dev/wire-format.md#labels-and-series). */

import { parseSelector } from '../../../language/logql/parse.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { rangeParams } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { requesterOf, warned } from './query.ts';
import { afterStart } from './streams.ts';

export const listDetectedLabels: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeParams(params, context.clock.nowNs());
  const query = param(params, 'query');
  const matchers = query === '' ? [] : parseSelector(query);
  const detectedLabels = await context.insight.detectedLabels(matchers, afterStart(range), requester);
  // The reference omits an empty list.
  return json({ ...(detectedLabels.length === 0 ? {} : { detectedLabels }), ...warned(requester) });
};
