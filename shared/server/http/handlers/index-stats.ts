/** index/stats and index/shards (docs/dev/wire-format.md#labels-and-series), which take and check what a range query takes. */

import { parseByteSize } from '../../../base/model/byte-size.ts';
import { BadRequestError, messageOf } from '../../../base/model/errors.ts';
import { parseSelector } from '../../../language/logql/parse.ts';
import type { IndexStats } from '../../../read/insight/stats.ts';
import { newStatistics } from '../../../read/query/statistics.ts';
import type { HttpContext } from '../context.ts';
import { statisticsTree } from '../encode-statistics.ts';
import { type Params, param, parseParams } from '../params.ts';
import { refuseParquet } from '../parquet-request.ts';
import { rangeQueryParams } from '../query-params.ts';
import { json, jsonText } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { askerOf, warned } from './query.ts';

/** The greatest number of 64 bits, which no number of JavaScript is: written as text. */
const LAST_FINGERPRINT = '18446744073709551615';

export const showIndexStats: Handler<HttpContext> = async (context, request) => {
  const asker = askerOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeQueryParams(params, context.clock.nowNs());
  const selector = parseSelector(range.query);
  const { streams, chunks, bytes, entries } = await context.insight.stats(selector, range, asker);
  return json({ streams, chunks, bytes, entries, ...warned(asker) });
};

/**
 * One shard that holds everything: a query here is not cut by fingerprints, so there is one right way to ask for all of
 * it, however small a client wants its shards.
 */
export const showIndexShards: Handler<HttpContext> = async (context, request) => {
  const asker = askerOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeQueryParams(params, context.clock.nowNs());
  checkShardBytes(params);
  const selector = parseSelector(range.query);
  const started = process.hrtime.bigint();
  const stats = await context.insight.stats(selector, range, asker);
  const execNs = Number(process.hrtime.bigint() - started);
  return jsonText(encodeShards(stats, execNs));
};

function checkShardBytes(params: Params): void {
  const text = param(params, 'targetBytesPerShard');
  let bytes = 0;
  try {
    if (text !== '') bytes = parseByteSize(text);
  } catch (error) {
    throw new BadRequestError(messageOf(error), { cause: error });
  }
  if (bytes <= 0) throw new BadRequestError('targetBytesPerShard must be a positive value');
}

function encodeShards({ streams, chunks, bytes, entries }: IndexStats, execNs: number): string {
  const stats = JSON.stringify({ streams, chunks, bytes, entries });
  const shard = `{"bounds":{"min":0,"max":${LAST_FINGERPRINT}},"stats":${stats}}`;
  const statistics = JSON.stringify(statisticsTree({ statistics: newStatistics(), execNs }));
  return `{"shards":[${shard}],"statistics":${statistics},"chunkGroups":[{"refs":[]}]}`;
}
