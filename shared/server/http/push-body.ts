/** Pushes the body of a request, with the limits of its tenant and of the configuration. */
import type { PushOutcome, PushRequest } from '../../write/ingest/push-work.ts';
import { maxDecompressedBytes } from '../admin/config.ts';
import type { HttpContext } from './context.ts';
import type { HttpRequest } from './message.ts';

type PushOptions = Pick<PushRequest, 'tenant' | 'receiver' | 'backfillShard' | 'parameters'>;

export function pushBody(
  context: HttpContext,
  { headers, body }: Pick<HttpRequest, 'headers' | 'body'>,
  options: PushOptions,
): Promise<PushOutcome> {
  const request = {
    body,
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    ...options,
  };
  const { config } = context;
  return context.push.push(request, context.limitsOf(options.tenant), {
    maxBodyBytes: config.distributor.maxRecvMsgSize,
    maxDecompressedBytes: maxDecompressedBytes(config),
  });
}
