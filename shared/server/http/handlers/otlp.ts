/** POST /otlp/v1/logs (docs/dev/wire-format.md#otlp), and the path of exporters with a doubled path. */

import { BadRequestError } from '../../../base/model/errors.ts';
import { otlpReceiver } from '../../../write/ingest/otlp/otlp-receiver.ts';
import { maxDecompressedBytes } from '../../admin/config.ts';
import { backfillShard } from '../backfill-shard.ts';
import type { HttpContext } from '../context.ts';
import { noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

export const pushOtlpLogs: Handler<HttpContext> = async (context, request) => {
  const { headers, body } = request;
  const { config } = context;
  const tenant = singleTenant(request);
  const contentType = headers['content-type'];
  const push = {
    tenant,
    body,
    contentType,
    contentEncoding: headers['content-encoding'],
    receiver: otlpReceiver(contentType),
    backfillShard: backfillShard(headers),
  };
  const bodyLimits = {
    maxBodyBytes: config.distributor.maxRecvMsgSize,
    maxDecompressedBytes: maxDecompressedBytes(config),
  };
  const { error } = await context.push.push(push, context.limitsOf(tenant), bodyLimits);
  if (error !== undefined) throw error;
  return noContent();
};

/** Responds with 400: exporters do not retry it, and log its message. */
export const refuseDoubledPath: Handler<HttpContext> = async (_context, request) => {
  singleTenant(request);
  throw new BadRequestError(
    "the exporter's endpoint is too long; configure it as <base>/otlp, because the collector adds /v1/logs itself",
  );
};
