/**
 * Errors as clients of OTLP read them (docs/dev/wire-format.md#errors-of-otlp): a `google.rpc.Status` in protobuf, whatever the
 * encoding of the request was. Its code is left out, as the protocol allows: the HTTP status says it all.
 *
 * What a reader would get wrong: a 500 is never sent, because these clients repeat a 503 and give up at a 500.
 */
import type { HttpResponse } from './message.ts';

/** The type is what a server sniffs from the bytes; the reference names none. */
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
  const text = Buffer.from(message);
  const head = [MESSAGE_TAG];
  let rest = text.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) head.push((rest % 128) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), text]);
}
