/** Checks of a stream's labels (wire-format 1.7, scope stream). A stream that fails loses all its entries. */
import type { Limits } from '../model/limits.ts';
import type { PushStream } from './push-columns.ts';
import { isInternal } from './service-name.ts';

export type StreamReason =
  | 'missing_labels'
  | 'max_label_names_per_series'
  | 'label_name_too_long'
  | 'label_value_too_long'
  | 'duplicate_label_names';

export interface StreamRejection {
  readonly reason: StreamReason;
  readonly message: string;
}

/** The first check that fails, or undefined. */
export function validateStream(stream: PushStream, limits: Limits): StreamRejection | undefined {
  const { labels, text } = stream;
  if (isInternal(stream)) return undefined;
  if (labels.length === 0) {
    return {
      reason: 'missing_labels',
      message: 'error at least one label pair is required per stream',
    };
  }
  let names = labels.length;
  for (const { name } of labels) if (name === 'service_name') names--;
  if (names > limits.maxLabelNamesPerSeries) {
    return {
      reason: 'max_label_names_per_series',
      message: `entry for stream '${text}' has ${names} label names; limit ${limits.maxLabelNamesPerSeries}`,
    };
  }
  let before: string | undefined;
  for (const { name, value } of labels) {
    if (isLonger(name, limits.maxLabelNameLength)) {
      return {
        reason: 'label_name_too_long',
        message: `stream '${text}' has label name too long: '${name}'`,
      };
    }
    if (isLonger(value, limits.maxLabelValueLength)) {
      return {
        reason: 'label_value_too_long',
        message: `stream '${text}' has label value too long: '${value}'`,
      };
    }
    if (name === before) {
      return {
        reason: 'duplicate_label_names',
        message: `stream '${text}' has duplicate label name: '${name}'`,
      };
    }
    before = name;
  }
  return undefined;
}

/** True where the text has more than `maxBytes` bytes. A UTF-16 unit takes at most 3. */
function isLonger(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}
