/** Bugs of retention: when a chunk counts as expired, and for which streams. */

import type { Limits } from '../../../shared/base/model/limits.ts';
import type { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { like } from '../../support/like.ts';
import type { Bug } from './bug.ts';

/** Every chunk seems to end at its start. The swap uses the real chunks. */
function firstEntryCatalog(catalog: Catalog): Catalog {
  const known = new Map<string, ChunkRecord>();
  const shortened = (record: ChunkRecord): ChunkRecord => {
    known.set(record.id, record);
    return { ...record, last: record.first };
  };
  const asItIs = (record: ChunkRecord): ChunkRecord => known.get(record.id) ?? record;
  const day: Catalog['day'] = async (tenant, number) => {
    const snapshot = await catalog.day(tenant, number);
    return snapshot && { ...snapshot, records: snapshot.records.map(shortened) };
  };
  const swap: Catalog['swap'] = given =>
    catalog.swap({
      ...given,
      removed: given.removed.map(asItIs),
      updated: given.updated?.map(record => ({ ...asItIs(record), asOfMs: record.asOfMs })),
    });
  return like(catalog, { day, swap });
}

export const expiresByFirstEntry: Bug = {
  name: 'takes a chunk for expired by its first entry',
  needsRemoval: true,
  maxSeeds: 100,
  knownSeed: 35,
  breaks: ['only-what-may-goes'],
  retention: ({ rewriter, ...rest }) => ({
    ...rest,
    rewriter: { ...rewriter, catalog: firstEntryCatalog(rewriter.catalog) },
  }),
};

export const forgetsRules: Bug = {
  name: 'removes by the period of the tenant alone',
  needsRemoval: true,
  maxSeeds: 60,
  breaks: ['only-what-may-goes'],
  retention: ({ limitsOf, ...rest }) => {
    const known = new WeakMap<Limits, Limits>();
    const withoutRules = (tenant: string): Limits => {
      const limits = limitsOf(tenant);
      if (!known.has(limits)) known.set(limits, { ...limits, retentionStream: [] });
      return known.get(limits)!;
    };
    return { ...rest, limitsOf: withoutRules };
  },
};
