/**
 * Encodes a delete request as JSON. A writer compares the bytes that it read with the stored bytes, so the order of the
 * fields is part of the format. Times in ns are strings of decimal digits, because JSON numbers are exact only to 2^53.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import type { DeleteRequest } from './delete-request.ts';

const VERSION = 1;

interface StoredRequest {
  readonly v: number;
  readonly id: string;
  readonly query: string;
  readonly startNs: string;
  readonly endNs: string;
  readonly intervalNs: string;
  readonly createdMs: number;
  readonly pickedUpMs?: number;
  readonly sealedMs?: number;
  readonly processedMs?: number;
  readonly doneToNs?: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly canceled?: true;
}

export function encodeDeleteRequest(request: DeleteRequest): Buffer {
  const stored: StoredRequest = {
    v: VERSION,
    id: request.id,
    query: request.query,
    startNs: `${request.startNs}`,
    endNs: `${request.endNs}`,
    intervalNs: `${request.intervalNs}`,
    createdMs: request.createdMs,
    pickedUpMs: request.pickedUpMs,
    sealedMs: request.sealedMs,
    processedMs: request.processedMs,
    doneToNs: request.doneToNs === undefined ? undefined : `${request.doneToNs}`,
    bytesDone: request.bytesDone,
    bytesTotal: request.bytesTotal,
    canceled: request.canceled,
  };
  return Buffer.from(JSON.stringify(stored));
}

/** Throws CorruptionError. */
export function decodeDeleteRequest(tenant: string, body: Uint8Array): DeleteRequest {
  const stored = JSON.parse(Buffer.from(body).toString()) as StoredRequest;
  if (stored.v !== VERSION) throw new CorruptionError(`delete request of ${tenant}: version ${stored.v}`);
  return {
    id: stored.id,
    tenant,
    query: stored.query,
    startNs: BigInt(stored.startNs),
    endNs: BigInt(stored.endNs),
    intervalNs: BigInt(stored.intervalNs),
    createdMs: stored.createdMs,
    pickedUpMs: stored.pickedUpMs,
    sealedMs: stored.sealedMs,
    processedMs: stored.processedMs,
    doneToNs: stored.doneToNs === undefined ? undefined : BigInt(stored.doneToNs),
    bytesDone: stored.bytesDone,
    bytesTotal: stored.bytesTotal,
    canceled: stored.canceled,
  };
}
