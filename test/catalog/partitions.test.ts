/**
 * Records of different kinds must never share a partition: a reader that lists one kind would mistake the
 * other for it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { IngestExchange } from '../../shared/storage/catalog/ingest-exchange.ts';
import { RuleGroups } from '../../shared/storage/catalog/rule-groups.ts';
import { manualClock } from '../support/manual-clock.ts';

const CATALOG = join(import.meta.dirname, '../../shared/storage/catalog');

describe('partitions', () => {
  test('demand of a tenant is not one of its rule groups, and its groups are not demand', async () => {
    const clock = manualClock();
    const table = memoryTable({ clock });
    const exchange = new IngestExchange({ table, clock });
    const groups = new RuleGroups({ table });
    const demand = { process: 'p', bytesPerSecond: 1, takenBytes: 1, newBytes: 1, hotStreams: [] };
    const group = { name: 'g', intervalNs: 1n, limit: 0, queryOffsetNs: 0n, rules: [] };
    await exchange.publishDemand('t', demand, 60_000);
    await groups.set('t', 'n', group, 0);
    expect((await groups.list('t')).map(({ group: { name } }) => name)).toEqual(['g']);
    expect(await exchange.demands('t')).toEqual([demand]);
  });

  test('each prefix of a partition key belongs to one file', () => {
    const owners = new Map<string, Set<string>>();
    for (const file of readdirSync(CATALOG).filter(name => name.endsWith('.ts'))) {
      const source = readFileSync(join(CATALOG, file), 'utf8');
      for (const [, before, prefix] of source.matchAll(/(sk: )?`([a-z]+)\/\/?\$\{/g)) {
        // Sort keys have prefixes of their kind.
        if (before !== undefined) continue;
        owners.set(prefix, (owners.get(prefix) ?? new Set()).add(file));
      }
    }
    expect(owners.size).toBeGreaterThan(15);
    const shared = [...owners]
      .filter(([, files]) => files.size > 1)
      .map(([prefix, files]) => [prefix, ...files]);
    expect(shared).toEqual([]);
  });
});
