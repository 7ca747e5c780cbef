/** POST /svc/api/v1/push and its deprecated JSON format (docs/dev/wire-format.md#push, #older-clients). */

import { lokiReceiver } from '../../../write/ingest/loki-receiver.ts';
import { maxDecompressedBytes } from '../../admin/config.ts';
import { backfillShard } from '../backfill-shard.ts';
import type { HttpContext } from '../context.ts';
import { noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

export const pushLogs = pushHandler(false);
export const pushLegacyLogs = pushHandler(true);

function pushHandler(legacyJson: boolean): Handler<HttpContext> {
  return async (context, sent) => {
    const { headers, body } = sent;
    const { config } = context;
    const tenant = singleTenant(sent);
    const bodyLimits = {
      maxBodyBytes: config.distributor.maxRecvMsgSize,
      maxDecompressedBytes: maxDecompressedBytes(config),
    };
    const request = {
      tenant,
      body,
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      receiver: lokiReceiver(headers['content-type'], legacyJson),
      backfillShard: backfillShard(headers),
      parameters: legacyJson ? 'legacy' : undefined,
    };
    const { error } = await context.push.push(request, context.limitsOf(tenant), bodyLimits);
    if (error !== undefined) throw error;
    return noContent();
  };
}
