/**
 * index/stats and index/shards (docs/dev/wire-format.md#labels-and-series). They accept and check the parameters of a range
 * query.
 */

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
import { requesterOf, warned } from './query.ts';

/** Maximum unsigned 64-bit number, as text because JavaScript numbers cannot hold it. */
const LAST_FINGERPRINT = '18446744073709551615';

export const showIndexStats: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeQueryParams(params, context.clock.nowNs());
  const selector = parseSelector(range.query);
  const { streams, chunks, bytes, entries } = await context.insight.stats(selector, range, requester);
  return json({ streams, chunks, bytes, entries, ...warned(requester) });
};

/**
 * Responds with one shard that contains everything. Logboom does not divide queries by fingerprints, so this
 * is the only correct division, whatever size a client wants.
 */
export const showIndexShards: Handler<HttpContext> = async (context, request) => {
  const requester = requesterOf(context, request);
  refuseParquet(request.headers);
  const params = parseParams(request);
  const range = rangeQueryParams(params, context.clock.nowNs());
  checkShardBytes(params);
  const selector = parseSelector(range.query);
  const started = process.hrtime.bigint();
  const stats = await context.insight.stats(selector, range, requester);
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
