/** Chunk records without objects: the catalog never reads the objects. */
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';

export const DAY = 20_000;

export function record(number: number, overrides: Partial<ChunkRecord> = {}): ChunkRecord {
  return {
    id: number.toString(16).padStart(32, '0'),
    origin: overrides.id ?? number.toString(16).padStart(32, '0'),
    tenant: 't',
    day: DAY,
    level: 0,
    first: number,
    last: number + 10,
    rows: 1,
    lineBytes: 1,
    metadataBytes: 0,
    asOfMs: 0,
    storedBytes: 100,
    footerBytes: 10,
    pairs: undefined,
    inline: undefined,
    footer: undefined,
    ...overrides,
  };
}
