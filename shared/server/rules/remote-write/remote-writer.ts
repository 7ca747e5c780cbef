/** Writes recorded series to endpoints of Prometheus remote write. */

import { NS_PER_MS } from '../../../base/model/time-units.ts';
import type { PendingSamples } from '../../../storage/catalog/rule-state.ts';
import type { RemoteWrite } from '../../admin/config-ruler.ts';
import { type SendParts, type SendResult, send } from '../send.ts';
import { snappyEncode } from './snappy-encode.ts';
import { encodeWriteRequest } from './write-request.ts';

/** Series per request: about 100 KB before compression. */
export const SERIES_AT_ONCE = 1000;

export interface RemoteWriter {
  /** Names of the endpoints. Without endpoints nothing is written. */
  readonly receivers: readonly string[];
  /**
   * Writes the samples of one instant to one endpoint. Every attempt sends the same bytes, so an endpoint
   * that already has them ignores them. Refused: a part was refused permanently, and the rest was accepted.
   */
  write(tenant: string, receiver: string, samples: PendingSamples, signal: AbortSignal): Promise<SendResult>;
}

export function remoteWriter(
  parts: SendParts,
  { enabled, addOrgIdHeader, clients }: RemoteWrite,
): RemoteWriter {
  return {
    receivers: enabled ? [...clients.keys()] : [],
    async write(tenant, receiver, { timeNs, samples }, signal) {
      const client = clients.get(receiver);
      if (client === undefined)
        return { end: 'refused', reason: `remote write client ${receiver} is not configured any more` };
      const headers = {
        ...Object.fromEntries(
          Object.entries(client.headers).map(([name, value]) => [name.toLowerCase(), value]),
        ),
        'content-type': 'application/x-protobuf',
        'content-encoding': 'snappy',
        'x-prometheus-remote-write-version': '0.1.0',
        ...(addOrgIdHeader && { 'x-scope-orgid': tenant }),
      };
      const target = { url: client.url, auth: client, timeoutMs: client.timeoutMs };
      let refusal: SendResult = { end: 'taken' };
      for (let i = 0; i < samples.length; i += SERIES_AT_ONCE) {
        const part = samples.slice(i, i + SERIES_AT_ONCE);
        const body = snappyEncode(encodeWriteRequest(part, Number(BigInt(timeNs) / NS_PER_MS)));
        const sent = await send(parts, target, { headers, body }, signal);
        if (sent.end === 'failed') return sent;
        if (sent.end === 'refused') refusal = sent;
      }
      return refusal;
    },
  };
}
