/** Receives pushes of Loki agents: protobuf or JSON, and the JSON form of the deprecated endpoint. */
import { decompressBody } from './body.ts';
import { pushFormat } from './content.ts';
import { decodeJsonPush } from './json-push.ts';
import { decodeLegacyJsonPush } from './legacy-json-push.ts';
import { decodeProtobufPush } from './protobuf-push.ts';
import type { Receiver } from './receiver.ts';
import { releaseUncompressed } from './snappy.ts';

const FORMAT = 'loki';

const PROTOBUF: Receiver = {
  format: FORMAT,
  unpack: decompressBody,
  decode: decodeProtobufPush,
  release: releaseUncompressed,
  repeatable: true,
};
const JSON_STREAMS: Receiver = {
  format: FORMAT,
  unpack: decompressBody,
  decode: decodeJsonPush,
  repeatable: true,
};
const LEGACY_JSON: Receiver = { ...JSON_STREAMS, decode: decodeLegacyJsonPush };

/** Returns the receiver of a content type. Throws BadRequestError if it is invalid. */
export function lokiReceiver(contentType: string | undefined, legacyJson: boolean): Receiver {
  if (pushFormat(contentType) === 'protobuf') return PROTOBUF;
  return legacyJson ? LEGACY_JSON : JSON_STREAMS;
}
