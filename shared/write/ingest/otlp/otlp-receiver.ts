/** Receives pushes of OpenTelemetry SDKs and collectors: OTLP over HTTP, protobuf or JSON (docs/dev/wire-format.md#otlp). */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Receiver } from '../receiver.ts';
import { decodeJsonLogs } from './json-logs.ts';
import { decodeProtobufLogs } from './protobuf-logs.ts';
import { unpackLogs } from './unpack.ts';

/**
 * Not repeatable: a record without a time gets its arrival time, so two equal bodies may mean different
 * entries. Records with a time lose nothing: the same entry is stored and acknowledged once anyway.
 */
const COMMON = { format: 'otlp', unpack: unpackLogs, repeatable: false } as const;
const PROTOBUF: Receiver = { ...COMMON, decode: decodeProtobufLogs };
const JSON_LOGS: Receiver = { ...COMMON, decode: decodeJsonLogs };

const PROTOBUF_TYPE = 'application/x-protobuf';
/** The charset is the default of JSON. Some clients name it. */
const JSON_TYPE = /^application\/json(?:; ?charset="?utf-8"?)?$/i;

/**
 * Returns the receiver of a content type. An unsupported one is refused when decoding, after the encoding was
 * checked.
 */
export function otlpReceiver(contentType: string | undefined): Receiver {
  if (contentType === PROTOBUF_TYPE) return PROTOBUF;
  if (contentType !== undefined && JSON_TYPE.test(contentType)) return JSON_LOGS;
  return {
    ...COMMON,
    // biome-ignore lint/correctness/useYield: throws before it could yield
    *decode() {
      throw new BadRequestError(`content type: ${contentType ?? ''} is not supported`);
    },
  };
}
