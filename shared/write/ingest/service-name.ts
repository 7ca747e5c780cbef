/**
 * Discovers `service_name` (docs/dev/wire-format.md#service_name): an index label, taken from the first label that names a
 * service.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { labelValue } from '../../base/model/labels.ts';
import type { PushStream } from './push-columns.ts';
import { streamOf } from './stream-table.ts';

const SERVICE_NAME = 'service_name';
const UNKNOWN_SERVICE = 'unknown_service';
/** Streams that the store itself writes. */
const INTERNAL = ['__aggregated_metric__', '__pattern__'];

interface DiscoveredName {
  readonly fields: readonly string[];
  readonly stream: PushStream;
}

// Decoders reuse the object of a label set as long as it is referenced.
const DISCOVERED = new WeakMap<PushStream, DiscoveredName>();

export function isInternal(stream: PushStream): boolean {
  return INTERNAL.some(name => labelValue(stream.labels, name) !== undefined);
}

/**
 * Returns the stream with a `service_name`. Returns it unchanged if it has one, is internal, or `fields` is
 * empty.
 *
 * @param isNew skips the cache, because the stream is not requested again
 */
export function withServiceName(stream: PushStream, fields: readonly string[], isNew = false): PushStream {
  if (fields.length === 0) return stream;
  if (isNew) return discover(stream, fields);
  const known = DISCOVERED.get(stream);
  if (known !== undefined && known.fields === fields) return known.stream;
  const found = discover(stream, fields);
  DISCOVERED.set(stream, { fields, stream: found });
  return found;
}

function discover(stream: PushStream, fields: readonly string[]): PushStream {
  if (labelValue(stream.labels, SERVICE_NAME) !== undefined || isInternal(stream)) return stream;
  const field = fields.find(name => (labelValue(stream.labels, name) ?? '') !== '');
  const value = field === undefined ? UNKNOWN_SERVICE : labelValue(stream.labels, field)!;
  const labels = [...stream.labels, { name: SERVICE_NAME, value }];
  return streamOf(labels.sort((a, b) => compareUtf8(a.name, b.name)));
}
