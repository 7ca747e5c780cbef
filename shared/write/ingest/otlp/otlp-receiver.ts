/** The pushes of OpenTelemetry SDKs and collectors: OTLP over HTTP, protobuf or JSON (docs/dev/wire-format.md#otlp). */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Receiver } from '../receiver.ts';
import { decodeJsonLogs } from './json-logs.ts';
import { decodeProtobufLogs } from './protobuf-logs.ts';
import { unpackLogs } from './unpack.ts';

/**
 * Not repeatable: a record may come without a time and gets that of its arrival, so the same body sent twice may mean
 * different entries. Records with a time lose nothing by it: the same entry is stored and answered once anyway.
 */
const COMMON = { format: 'otlp', unpack: unpackLogs, repeatable: false } as const;
const PROTOBUF: Receiver = { ...COMMON, decode: decodeProtobufLogs };
const JSON_LOGS: Receiver = { ...COMMON, decode: decodeJsonLogs };

/** By names of their own. */
export const OTLP_INLETS = { 'otlp-protobuf': PROTOBUF, 'otlp-json': JSON_LOGS } as const;

const PROTOBUF_TYPE = 'application/x-protobuf';
/** The charset is the one that JSON has; some clients name it. */
const JSON_TYPE = /^application\/json(?:; ?charset="?utf-8"?)?$/i;

/** By content type. With one that is not supported the receiver refuses to decode, after the encoding was checked. */
export function otlpReceiver(contentType: string | undefined): Receiver {
  if (contentType === PROTOBUF_TYPE) return PROTOBUF;
  if (contentType !== undefined && JSON_TYPE.test(contentType)) return JSON_LOGS;
  return {
    ...COMMON,
    // biome-ignore lint/correctness/useYield: it refuses at once
    *decode() {
      throw new BadRequestError(`content type: ${contentType ?? ''} is not supported`);
    },
  };
}
