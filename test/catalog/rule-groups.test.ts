/** Rule groups in the table: two concurrent writers, on each kind of table. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import type { RuleGroup } from '../../shared/storage/catalog/rule-group.ts';
import { RuleGroups } from '../../shared/storage/catalog/rule-groups.ts';
import { manualClock } from '../support/manual-clock.ts';

const clock = manualClock();

function group(name: string, expr = '1'): RuleGroup {
  const rules = [
    { kind: 'recording', record: 'a', expr, labels: { b: 'c' } },
    { kind: 'alerting', alert: 'A', expr, forNs: 7n, keepFiringForNs: 8n, labels: {}, annotations: {} },
  ] as const;
  return { name, intervalNs: 60_000_000_000n, limit: 2, queryOffsetNs: 5n, rules };
}

async function onSqlite(use: (table: Table) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'logboom-rules-'));
  const table = await openSqliteTable(path.join(directory, 'table.db'), { clock });
  try {
    await use(table);
  } finally {
    await table.close();
    await rm(directory, { recursive: true });
  }
}

const TABLES: [string, (use: (table: Table) => Promise<void>) => Promise<void>][] = [
  ['memory', use => use(memoryTable({ clock }))],
  ['SQLite', onSqlite],
];

describe.each(TABLES)('%s', (_, withTable) => {
  test('concurrent writers lose no group, and share the limit', () =>
    withTable(async table => {
      const [a, b] = [new RuleGroups({ table }), new RuleGroups({ table })];
      const names = Array.from({ length: 20 }, (_, i) => `g${i}`);
      await Promise.all(names.map((name, i) => (i % 2 ? a : b).set('t', `n${i % 3}`, group(name), 0)));
      expect((await a.list('t')).map(({ group: { name } }) => name).sort()).toEqual(names.sort());
      const more = Array.from({ length: 6 }, (_, i) => a.set('t', 'n', group(`more${i}`), 23));
      const ends = await Promise.allSettled(more);
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      expect(await b.list('t')).toHaveLength(23);
    }));

  test('a group is read as it was written, and its version rises', () =>
    withTable(async table => {
      const groups = new RuleGroups({ table });
      expect(await groups.get('t', 'n', 'g')).toBeUndefined();
      await groups.set('t', 'n', group('g'), 0);
      expect(await groups.get('t', 'n', 'g')).toEqual({
        tenant: 't',
        namespace: 'n',
        group: group('g'),
        version: 0,
      });
      await groups.set('t', 'n', group('g', '2'), 0);
      expect(await groups.list('t')).toEqual([
        { tenant: 't', namespace: 'n', group: group('g', '2'), version: 1 },
      ]);
    }));

  test('lists tenants with groups, for any names of other tenants', () =>
    withTable(async table => {
      const groups = new RuleGroups({ table });
      await groups.set('t', 'a', group('g'), 0);
      await groups.set('t', 'ab', group('g'), 0);
      await groups.set('tt', 'a/b', group('g'), 0);
      expect(await groups.tenants()).toEqual(['t', 'tt']);
      expect(await groups.deleteNamespace('tt', 'a')).toBe(false);
      expect(await groups.deleteNamespace('t', 'a')).toBe(true);
      expect((await groups.list('t')).map(({ namespace }) => namespace)).toEqual(['ab']);
      expect(await groups.delete('tt', 'a/b', 'g')).toBe(true);
      expect(await groups.delete('tt', 'a/b', 'g')).toBe(false);
      expect(await groups.tenants()).toEqual(['t']);
    }));

  test('a namespace of more groups than one transaction holds', () =>
    withTable(async table => {
      const groups = new RuleGroups({ table });
      for (let i = 0; i < 200; i++) await groups.set('t', 'n', group(`g${i}`), 0);
      expect(await groups.deleteNamespace('t', 'n')).toBe(true);
      expect(await groups.list('t')).toEqual([]);
      expect(await groups.tenants()).toEqual([]);
    }));
});
