/** Messages of OTLP logs for the tests' own encoder, and requests as plain objects with JSON names. */
import protobuf from 'protobufjs';

const { root } = protobuf.parse(
  `syntax = "proto3";
  message AnyValue {
    oneof value {
      string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4;
      ArrayValue arrayValue = 5; KeyValueList kvlistValue = 6; bytes bytesValue = 7;
    }
  }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; uint32 droppedAttributesCount = 2; }
  message InstrumentationScope {
    string name = 1; string version = 2; repeated KeyValue attributes = 3; uint32 droppedAttributesCount = 4;
  }
  message LogRecord {
    fixed64 timeUnixNano = 1; int32 severityNumber = 2; string severityText = 3; AnyValue body = 5;
    repeated KeyValue attributes = 6; uint32 droppedAttributesCount = 7; fixed32 flags = 8; bytes traceId = 9;
    bytes spanId = 10; fixed64 observedTimeUnixNano = 11; string eventName = 12;
  }
  message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord logRecords = 2; string schemaUrl = 3; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scopeLogs = 2; string schemaUrl = 3; }
  message Request { repeated ResourceLogs resourceLogs = 1; }
  message Status { int32 code = 1; string message = 2; }`,
);
const Request = root.lookupType('Request');
const Status = root.lookupType('Status');

export interface OtlpAny {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  /** 64-bit integers as texts. */
  readonly intValue?: string;
  readonly doubleValue?: number | string;
  readonly arrayValue?: { readonly values: readonly OtlpAny[] };
  readonly kvlistValue?: { readonly values: readonly OtlpPair[] };
  /** Base64. */
  readonly bytesValue?: string;
}

export interface OtlpPair {
  readonly key: string;
  readonly value: OtlpAny;
}

export interface OtlpRecord {
  readonly timeUnixNano?: string;
  readonly observedTimeUnixNano?: string;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: OtlpAny;
  readonly attributes?: readonly OtlpPair[];
  readonly droppedAttributesCount?: number;
  readonly flags?: number;
  /** Hex. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly eventName?: string;
}

export interface OtlpRequest {
  readonly resourceLogs: readonly {
    readonly resource?: { readonly attributes: readonly OtlpPair[] };
    readonly scopeLogs: readonly {
      readonly scope?: {
        readonly name?: string;
        readonly version?: string;
        readonly attributes?: readonly OtlpPair[];
        readonly droppedAttributesCount?: number;
      };
      readonly logRecords: readonly OtlpRecord[];
    }[];
  }[];
}

/** Protobuf, by an encoder that is not ours. */
export function protobufOf(request: OtlpRequest): Buffer {
  const withBytes = {
    resourceLogs: request.resourceLogs.map(({ resource, scopeLogs }) => ({
      resource: resource && { attributes: resource.attributes.map(pairOf) },
      scopeLogs: scopeLogs.map(({ scope, logRecords }) => ({
        scope: scope && { ...scope, attributes: (scope.attributes ?? []).map(pairOf) },
        logRecords: logRecords.map(record => ({
          ...record,
          body: record.body && anyOf(record.body),
          attributes: (record.attributes ?? []).map(pairOf),
          traceId: Buffer.from(record.traceId ?? '', 'hex'),
          spanId: Buffer.from(record.spanId ?? '', 'hex'),
        })),
      })),
    })),
  };
  return Buffer.from(Request.encode(Request.fromObject(withBytes)).finish());
}

export function jsonOf(request: OtlpRequest): Buffer {
  return Buffer.from(JSON.stringify(request));
}

/** The message of an error's body. */
export function statusMessage(body: Uint8Array): string {
  return (Status.decode(body) as unknown as { message: string }).message;
}

function pairOf({ key, value }: OtlpPair): object {
  return { key, value: anyOf(value) };
}

function anyOf(value: OtlpAny): object {
  if (value.doubleValue !== undefined) return { doubleValue: Number(value.doubleValue) };
  if (value.bytesValue !== undefined) return { bytesValue: Buffer.from(value.bytesValue, 'base64') };
  if (value.arrayValue) return { arrayValue: { values: value.arrayValue.values.map(anyOf) } };
  if (value.kvlistValue) return { kvlistValue: { values: value.kvlistValue.values.map(pairOf) } };
  return value;
}

export const text = (stringValue: string): OtlpAny => ({ stringValue });
export const list = (...values: OtlpAny[]): OtlpAny => ({ arrayValue: { values } });
export const map = (members: Record<string, OtlpAny>): OtlpAny => ({
  kvlistValue: { values: pairs(members) },
});
export const pairs = (members: Record<string, OtlpAny | string>): OtlpPair[] =>
  Object.entries(members).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? text(value) : value,
  }));

/** One record in one scope of one resource. */
export function requestOf(
  record: OtlpRecord,
  resource: readonly OtlpPair[] = [],
  scope?: OtlpRequest['resourceLogs'][number]['scopeLogs'][number]['scope'],
): OtlpRequest {
  return {
    resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ scope, logRecords: [record] }] }],
  };
}
