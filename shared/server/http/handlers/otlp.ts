/** POST /otlp/v1/logs (docs/dev/wire-format.md#otlp), and the path of exporters with a doubled path. */

import { BadRequestError } from '../../../base/model/errors.ts';
import { otlpReceiver } from '../../../write/ingest/otlp/otlp-receiver.ts';
import { backfillShard } from '../backfill-shard.ts';
import type { HttpContext } from '../context.ts';
import { pushBody } from '../push-body.ts';
import { noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

export const pushOtlpLogs: Handler<HttpContext> = async (context, request) => {
  const { headers } = request;
  const { error } = await pushBody(context, request, {
    tenant: singleTenant(request),
    receiver: otlpReceiver(headers['content-type']),
    backfillShard: backfillShard(headers),
  });
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
