/**
 * patterns (docs/dev/wire-format.md#labels-and-series): the kinds of lines of a selector over time. Responds with 404 and an
 * empty body if `pattern_ingester.enabled` is off, like the reference.
 */

import { parseSelector } from '../../../language/logql/parse.ts';
import type { FoundPattern } from '../../../read/patterns/patterns.ts';
import type { Requester } from '../../../read/query/engine.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { rangeParams, stepParam } from '../query-params.ts';
import { jsonText } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { requesterOf, warned } from './query.ts';

/** Escapes that Go writes in JSON. */
const ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

export const showPatterns: Handler<HttpContext> = async (context, request) => {
  if (!context.config.patternIngester.enabled) return { status: 404, headers: {}, body: '' };
  const requester = requesterOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeParams(params, context.clock.nowNs(), { mayEndFirst: true });
  const stepNs = stepParam(params, range);
  const matchers = parseSelector(param(params, 'query'));
  // A range that ends before it starts is empty, as in the reference. Other endpoints refuse it.
  const found =
    range.endNs < range.startNs ? [] : await context.patterns.find({ matchers, range, stepNs }, requester);
  return jsonText(encode(found, requester));
};

function encode(found: readonly FoundPattern[], requester: Requester): string {
  const data = found.map(({ pattern, level, samples }) => {
    const text = JSON.stringify(pattern).replace(/[<>&]/g, one => ESCAPES[one]);
    return `{"pattern":${text},"level":${JSON.stringify(level)},"samples":${JSON.stringify(samples)}}`;
  });
  const { warnings } = warned(requester);
  const rest = warnings === undefined ? '' : `,"warnings":${JSON.stringify(warnings)}`;
  return `{"status":"success","data":[${data.join(',')}]${rest}}`;
}
