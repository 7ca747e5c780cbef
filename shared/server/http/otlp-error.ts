/**
 * Errors for OTLP clients (docs/dev/wire-format.md#errors-of-otlp): a `google.rpc.Status` in protobuf, whatever the
 * encoding of the request. The protocol allows to omit its code, because the HTTP status suffices.
 *
 * Pitfall: never respond with 500, because these clients retry a 503 but give up after a 500.
 */
import { ByteWriter } from '../../storage/codec/byte-io.ts';
import type { HttpResponse } from './message.ts';

/** Type that a server detects from the bytes. The reference sets none. */
const STATUS_TYPE = 'application/octet-stream';
/** Field 2, `message`, a string. */
const MESSAGE_TAG = 0x12;

export function otlpErrorResponse(status: number, message: string): HttpResponse {
  return {
    status: status === 500 ? 503 : status,
    headers: { 'content-type': STATUS_TYPE, 'x-content-type-options': 'nosniff' },
    body: statusMessage(message),
  };
}

function statusMessage(message: string): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(MESSAGE_TAG);
  writer.block(Buffer.from(message));
  return writer.finish();
}
