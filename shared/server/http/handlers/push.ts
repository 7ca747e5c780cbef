/** POST /svc/api/v1/push and its deprecated JSON format (docs/dev/wire-format.md#push, #older-clients). */

import { lokiReceiver } from '../../../write/ingest/loki-receiver.ts';
import { backfillShard } from '../backfill-shard.ts';
import type { HttpContext } from '../context.ts';
import { pushBody } from '../push-body.ts';
import { noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

export const pushLogs = pushHandler(false);
export const pushLegacyLogs = pushHandler(true);

function pushHandler(legacyJson: boolean): Handler<HttpContext> {
  return async (context, sent) => {
    const { headers } = sent;
    const { error } = await pushBody(context, sent, {
      tenant: singleTenant(sent),
      receiver: lokiReceiver(headers['content-type'], legacyJson),
      backfillShard: backfillShard(headers),
      parameters: legacyJson ? 'legacy' : undefined,
    });
    if (error !== undefined) throw error;
    return noContent();
  };
}
