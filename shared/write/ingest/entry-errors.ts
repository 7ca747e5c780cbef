/** Messages of entries that fail a check, as in the reference (docs/dev/wire-format.md#validation). */
import type { Limits } from '../../base/model/limits.ts';
import type { ErrorGroups } from './error-groups.ts';
import type { PushColumns } from './push-columns.ts';
import { formatRfc3339, type Timestamp } from './timestamp.ts';

export type EntryReason =
  | 'greater_than_max_sample_age'
  | 'too_far_in_future'
  | 'line_too_long'
  | 'disallowed_structured_metadata'
  | 'structured_metadata_too_large'
  | 'structured_metadata_too_many';

interface FailedEntry {
  readonly columns: PushColumns;
  readonly entry: number;
  readonly limits: Limits;
  /** Oldest accepted time. */
  readonly oldest: Timestamp;
  /** Bytes of names and values that count against the limit. */
  readonly metadataSize: number;
}

/** Counts the error of an entry. Its key contains everything that the message depends on, see ErrorGroups. */
export function addEntryError(errors: ErrorGroups, reason: EntryReason, failed: FailedEntry): void {
  const { columns, entry } = failed;
  const second = Math.floor(columns.timeOfDay[entry] / 1e9);
  const detail = {
    greater_than_max_sample_age: `${columns.day[entry]} ${second}`,
    too_far_in_future: `${columns.day[entry]} ${second}`,
    line_too_long: lineSize(failed),
    disallowed_structured_metadata: '',
    structured_metadata_too_large: failed.metadataSize,
    structured_metadata_too_many: pairsOf(failed),
  }[reason];
  errors.add(`${columns.streamOf[entry]} ${reason} ${detail}`, () => messageOf(reason, failed));
}

function messageOf(reason: EntryReason, failed: FailedEntry): string {
  const { columns, entry, limits, oldest, metadataSize } = failed;
  const stream = columns.streams[columns.streamOf[entry]].text;
  const time = () => formatRfc3339(columns.day[entry], columns.timeOfDay[entry]);
  switch (reason) {
    case 'greater_than_max_sample_age':
      return `entry for stream '${stream}' has timestamp too old: ${time()}, oldest acceptable timestamp is: ${formatRfc3339(oldest.day, oldest.timeOfDay)}`;
    case 'too_far_in_future':
      return `entry for stream '${stream}' has timestamp too new: ${time()}`;
    case 'line_too_long':
      return `max entry size '${limits.maxLineSize}' bytes exceeded for stream '${stream}' while adding an entry with length '${lineSize(failed)}' bytes`;
    case 'disallowed_structured_metadata':
      return `stream '${stream}' includes structured metadata, but this feature is disallowed. ${see('allow_structured_metadata', 'enable')}`;
    case 'structured_metadata_too_large':
      return `stream '${stream}' has structured metadata too large: '${metadataSize}' bytes, limit: '${limits.maxStructuredMetadataSize}' bytes. ${see('max_structured_metadata_size', 'increase')}`;
    case 'structured_metadata_too_many':
      return `stream '${stream}' has too many structured metadata labels: '${pairsOf(failed)}', limit: '${limits.maxStructuredMetadataEntriesCount}'. ${see('max_structured_metadata_entries_count', 'increase')}`;
  }
}

function see(limit: string, verb: string): string {
  return `Please see \`limits_config.${limit}\` or contact your Loki administrator to ${verb} it`;
}

function lineSize({ columns, entry }: FailedEntry): number {
  return columns.lineEnd[entry] - columns.lineStart[entry];
}

function pairsOf({ columns, entry }: FailedEntry): number {
  return columns.firstPair[entry + 1] - columns.firstPair[entry];
}
