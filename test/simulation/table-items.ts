/** Kinds of items of the shared table, as the oracle sees them. */

import type { Item, ItemKey, Write } from '../../shared/base/ports/table.ts';
import { keyOfWrite } from '../../shared/base/ports/table-rules.ts';
import { type ChunkRecord, decodeRecord, objectKey } from '../../shared/storage/catalog/chunk-record.ts';
import { dayOfChunkKey } from '../../shared/storage/catalog/keys.ts';

export interface NamedChunk {
  readonly record: ChunkRecord;
  readonly key: string;
}

/** The chunk that an item is the record of. */
export function chunkOf(item: Item): NamedChunk[] {
  const found = dayOfChunkKey(item);
  if (found === undefined) return [];
  const record = decodeRecord(found.tenant, found.day, Buffer.from(item.body));
  return [{ record, key: objectKey(record) }];
}

/** Version that some writes give to a day; 0 if they give none. */
export function versionIn(writes: readonly Write[]): number {
  return Math.max(
    0,
    ...writes.map(write => (write.kind === 'put' && isDay(write.item) ? write.item.version : 0)),
  );
}

/** Chunks of the days of some writes. */
export function ofDays(writes: readonly Write[], chunks: readonly NamedChunk[]): NamedChunk[] {
  const days = new Set(writes.map(write => dayOfChunk(keyOfWrite(write))));
  return chunks.filter(({ record }) => days.has(`${record.tenant}/${record.day}`));
}

/** The lease that a write holds on to. */
export function renewals(write: Write): Item[] {
  const isRenewal =
    write.kind === 'put' && write.item.pk.startsWith('l/') && write.condition?.kind === 'version';
  return isRenewal ? [write.item] : [];
}

/**
 * Part of a commit of pushes, which may give the day more partitions, and of no swap: it announces
 * outstanding work.
 */
export function isAnnouncement(write: Write): boolean {
  return write.kind === 'put' && write.item.pk.startsWith('w/');
}

export function isDay({ pk }: ItemKey): boolean {
  return pk.startsWith('d/');
}

/** Tenant and day of a chunk's item; undefined for every other item. */
function dayOfChunk(key: ItemKey): string | undefined {
  const found = dayOfChunkKey(key);
  return found && `${found.tenant}/${found.day}`;
}

export function nameOf({ pk, sk }: ItemKey): string {
  return `${pk} / ${sk}`;
}
