/** Compares rule files with a store: the changes by group and rule that loading the files would make. */
import type { RuleGroup } from '../../storage/catalog/rule-group.ts';
import { formatGroup } from './rule-yaml.ts';

/** Groups by namespace. */
export type Namespaces = ReadonlyMap<string, readonly RuleGroup[]>;

export interface GroupChange {
  readonly namespace: string;
  readonly name: string;
  readonly kind: 'added' | 'changed' | 'removed';
  /** Lines of YAML only in the store (gone), and only in the files (come). */
  readonly gone: readonly string[];
  readonly come: readonly string[];
}

/**
 * Changes that make the store equal to `wanted`. With `prune`, groups of its namespaces that are not in
 * `wanted` are removed. Other namespaces stay unchanged.
 */
export function compareGroups(stored: Namespaces, wanted: Namespaces, prune: boolean): GroupChange[] {
  const changes: GroupChange[] = [];
  for (const [namespace, groups] of wanted) {
    const before = new Map((stored.get(namespace) ?? []).map(group => [group.name, formatGroup(group)]));
    for (const group of groups) {
      const [was, is] = [before.get(group.name), formatGroup(group)];
      before.delete(group.name);
      if (was === is) continue;
      const kind = was === undefined ? 'added' : 'changed';
      changes.push({ namespace, name: group.name, kind, ...changedLines(was ?? '', is) });
    }
    if (!prune) continue;
    for (const [name, was] of before) {
      changes.push({ namespace, name, kind: 'removed', ...changedLines(was, '') });
    }
  }
  return changes;
}

/** Removes lines that both begin and end with. */
function changedLines(was: string, is: string): Pick<GroupChange, 'gone' | 'come'> {
  const [old, now] = [was, is].map(text => text.split('\n').filter(line => line !== ''));
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return { gone: old.slice(start, old.length - end), come: now.slice(start, now.length - end) };
}
