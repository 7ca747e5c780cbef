/** Changes that loading rule files would make. */
import { expect, test } from '@jest/globals';
import { compareGroups, type Namespaces } from '../../shared/server/rules/compare-groups.ts';
import type { RuleGroup } from '../../shared/storage/catalog/rule-group.ts';

function group(name: string, ...exprs: string[]): RuleGroup {
  const rules = exprs.map((expr, i) => ({ kind: 'recording' as const, record: `r${i}`, expr, labels: {} }));
  return { name, intervalNs: 60_000_000_000n, limit: 0, queryOffsetNs: 0n, rules };
}

const stored: Namespaces = new Map([
  ['a', [group('same', '1'), group('other', '1', '2', '3'), group('old', '1')]],
  ['b', [group('same', '1')]],
]);
const shown = (changes: ReturnType<typeof compareGroups>) =>
  changes.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);

test('added and changed groups, in the order of the files', () => {
  const wanted = new Map([
    ['c', [group('same', '1')]],
    ['a', [group('new', '1'), group('other', '1', '9', '3'), group('same', '1')]],
  ]);
  expect(shown(compareGroups(stored, wanted, false))).toEqual([
    'added c/same',
    'added a/new',
    'changed a/other',
  ]);
});

test('removes groups only in the named namespaces, and only on request', () => {
  const wanted = new Map([['a', [group('same', '1')]]]);
  expect(compareGroups(stored, wanted, false)).toEqual([]);
  expect(shown(compareGroups(stored, wanted, true))).toEqual(['removed a/other', 'removed a/old']);
  expect(shown(compareGroups(stored, new Map([['a', []]]), true))).toHaveLength(3);
});

test('lines that differ, without those that do not', () => {
  const [change] = compareGroups(stored, new Map([['a', [group('other', '1', '9', '3')]]]), false);
  expect([change.gone, change.come]).toEqual([['      expr: "2"'], ['      expr: "9"']]);
  const [longer] = compareGroups(stored, new Map([['a', [group('same', '1', '1')]]]), false);
  expect([longer.gone, longer.come]).toEqual([[], ['    - record: r1', '      expr: "1"']]);
  const [added] = compareGroups(new Map(), new Map([['a', [group('same', '1')]]]), false);
  expect(added.gone).toEqual([]);
  expect(added.come[0]).toBe('name: same');
});
