/** Push bodies in the encodings that agents use, made by encoders that are not ours. */
import protobuf from 'protobufjs';
import { compress } from 'snappyjs';
import { NS_PER_SECOND } from '../../../shared/base/model/time-units.ts';

export interface PushedStream {
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: readonly PushedEntry[];
}

export interface PushedEntry {
  readonly ns: bigint;
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export const JSON_TYPE = 'application/json';
export const PROTOBUF_TYPE = 'application/x-protobuf';

const { root } = protobuf.parse(
  `syntax = "proto3";
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }
  message Pair { string name = 1; string value = 2; }
  message Entry { Timestamp timestamp = 1; string line = 2; repeated Pair structured_metadata = 3; }
  message Stream { string labels = 1; repeated Entry entries = 2; uint64 hash = 3; }
  message Push { repeated Stream streams = 1; string format = 2; }`,
  { keepCase: true },
);
const Push = root.lookupType('Push');

export function jsonPush(streams: readonly PushedStream[]): string {
  return JSON.stringify({
    streams: streams.map(({ labels, entries }) => ({
      stream: labels,
      values: entries.map(({ ns, line, metadata }) =>
        metadata === undefined ? [`${ns}`, line] : [`${ns}`, line, metadata],
      ),
    })),
  });
}

/** Protobuf without compression. */
export function protobufPush(streams: readonly PushedStream[]): Uint8Array {
  return rawProtobuf(
    streams.map(({ labels, entries }) => ({
      labels: labelsText(labels),
      entries: entries.map(protobufEntry),
    })),
  );
}

/** Protobuf in a snappy block: the meaning of `application/x-protobuf`. */
export function snappyPush(streams: readonly PushedStream[]): Uint8Array {
  return compress(protobufPush(streams));
}

/** A push of which the labels' text is given, right or wrong. */
export function snappyPushOfText(labels: string, entry: PushedEntry): Uint8Array {
  return compress(rawProtobuf([{ labels, entries: [protobufEntry(entry)] }]));
}

function rawProtobuf(streams: readonly object[]): Uint8Array {
  return Push.encode(Push.fromObject({ streams })).finish();
}

function protobufEntry({ ns, line, metadata = {} }: PushedEntry): object {
  const seconds = ns >= 0n ? ns / NS_PER_SECOND : -((NS_PER_SECOND - 1n - ns) / NS_PER_SECOND);
  return {
    timestamp: { seconds: Number(seconds), nanos: Number(ns - seconds * NS_PER_SECOND) },
    line,
    structured_metadata: Object.entries(metadata).map(([name, value]) => ({ name, value })),
  };
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ')}}`;
}
