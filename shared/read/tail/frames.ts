/**
 * Encodes frames of a tail (docs/dev/wire-format.md#frames): entries and dropped entries, cut to the limits
 * of the connection.
 *
 *     {"streams":[...],"dropped_entries":[...],"encodingFlags":[...]}
 *
 * A frame ends at MAX_FRAME_ENTRIES, or before it exceeds `targetBytes`. A larger entry gets its own frame,
 * and one that exceeds the maximum message is reported as dropped. No entry is lost without a report.
 */

import { formatLabels, type Labels } from '../../base/model/labels.ts';
import type { FrameForm } from '../../storage/catalog/subscriptions.ts';
import { MAX_FRAME_ENTRIES } from './bounds.ts';
import { instantText } from './instant-text.ts';
import { labelsJson, type TailEntry } from './tail-entry.ts';

export interface FrameLimits {
  /** Maximum size of a frame with several entries. */
  readonly targetBytes: number;
  /** Maximum size of any frame. At least MIN_MESSAGE_BYTES. */
  readonly maxBytes: number;
}

/** Bytes around the entries: names, commas, flags of a request. */
const ENVELOPE_BYTES = 512;
export const MIN_MESSAGE_BYTES = 4096;

export interface FrameStyle {
  readonly form: FrameForm;
  /** Encoding flags as the client sent them. */
  readonly flags: readonly string[];
}

export interface DroppedEntry {
  readonly timeNs: bigint;
  readonly labels: Labels;
}

/** Longer flags are not echoed, because they would fill frames. */
const MAX_FLAGS_BYTES = 256;

/**
 * Returns how many of `entries`, from `from` on, the next frame holds. 0 if the first one exceeds a message.
 */
export function entriesOfFrame(entries: readonly TailEntry[], from: number, limits: FrameLimits): number {
  const { targetBytes, maxBytes } = limits;
  let bytes = ENVELOPE_BYTES;
  let count = 0;
  for (let i = from; i < entries.length && count < MAX_FRAME_ENTRIES; i++, count++) {
    bytes += entries[i].bytes + 1;
    if (bytes > maxBytes) break;
    if (bytes > targetBytes && count > 0) break;
  }
  return count;
}

/** Returns how many dropped entries fit in the frame of `entries`. */
export function droppedOfFrame(
  dropped: readonly DroppedEntry[],
  entries: readonly TailEntry[],
  { maxBytes }: FrameLimits,
  { form }: FrameStyle,
): number {
  let bytes = ENVELOPE_BYTES;
  for (const entry of entries) bytes += entry.bytes + 1;
  let count = 0;
  while (count < dropped.length) {
    bytes += Buffer.byteLength(droppedJson(dropped[count], form)) + 1;
    if (bytes > maxBytes) break;
    count++;
  }
  return count;
}

export function encodeFrame(
  entries: readonly TailEntry[],
  dropped: readonly DroppedEntry[],
  { form, flags }: FrameStyle,
): Buffer {
  let text = '{"streams":[';
  for (let i = 0; i < entries.length; i++) text += i > 0 ? `,${entries[i].json}` : entries[i].json;
  text += ']';
  if (dropped.length > 0) {
    text += `,"dropped_entries":[${dropped.map(one => droppedJson(one, form)).join()}]`;
  } else if (form === 'legacy') text += ',"dropped_entries":null';
  if (form === 'current' && flags.length > 0) {
    const flagsJson = JSON.stringify(flags);
    if (flagsJson.length <= MAX_FLAGS_BYTES) text += `,"encodingFlags":${flagsJson}`;
  }
  return Buffer.from(`${text}}`);
}

/** Labels that would fill a frame are omitted. The timestamp still shows that an entry is missing. */
const MAX_DROPPED_LABELS_BYTES = 2048;

function droppedJson({ timeNs, labels }: DroppedEntry, form: FrameForm): string {
  if (form === 'legacy') {
    const text = formatLabels(labels);
    const shown = Buffer.byteLength(text) <= MAX_DROPPED_LABELS_BYTES ? text : '{}';
    return `{"Timestamp":"${instantText(timeNs)}","Labels":${JSON.stringify(shown)}}`;
  }
  const json = labels.length === 0 ? '' : labelsJson(labels);
  const shown = json === '' || Buffer.byteLength(json) > MAX_DROPPED_LABELS_BYTES ? '' : `,"labels":${json}`;
  return `{"timestamp":"${timeNs}"${shown}}`;
}
