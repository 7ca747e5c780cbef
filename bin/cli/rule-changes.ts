/**
 * Checks, compares and loads the rule groups of files. In a separate file of the bundle, because it parses YAML, queries and
 * templates.
 */
import { compareGroups, type GroupChange } from '../../shared/server/rules/compare-groups.ts';
import { CommandError } from './command-error.ts';
import { lintFiles, readFiles } from './rule-files.ts';
import { listGroups, putGroup } from './rule-groups-client.ts';
import { removeGroup } from './rules-client.ts';
import { print, shown } from './standard-output.ts';
import type { StoreFlags } from './store-client.ts';

export { lintText } from './rule-files.ts';

export interface PruneFlags extends StoreFlags {
  readonly prune?: boolean;
}

const SIGNS: Readonly<Record<GroupChange['kind'], string>> = { added: '+', changed: '~', removed: '-' };

export async function lint(files: readonly string[]): Promise<void> {
  const reports = await lintFiles(files);
  for (const { problems } of reports) for (const problem of problems) await print(`${problem}\n`);
  const count = reports.reduce((sum, { problems }) => sum + problems.length, 0);
  if (count > 0) throw new CommandError(`${count} ${count === 1 ? 'problem' : 'problems'}`);
  const groups = reports.reduce((sum, report) => sum + report.groups.length, 0);
  await print(`${groups} ${groups === 1 ? 'group' : 'groups'}, no problems\n`);
}

export async function diff(files: readonly string[], { prune = false, ...store }: PruneFlags): Promise<void> {
  const changes = compareGroups(await listGroups(store), await readFiles(files), prune);
  for (const change of changes) await print(changeText(change));
  await print(summary(changes));
}

export async function load(files: readonly string[], { prune = false, ...store }: PruneFlags): Promise<void> {
  const wanted = await readFiles(files);
  const changes = compareGroups(await listGroups(store), wanted, prune);
  for (const { kind, namespace, name } of changes) {
    if (kind === 'removed') await removeGroup(store, namespace, name);
    else await putGroup(store, namespace, wanted.get(namespace)!.find(group => group.name === name)!);
    await print(`${SIGNS[kind]} ${shown(`${namespace}/${name}`)}\n`);
  }
  await print(summary(changes));
}

function changeText({ kind, namespace, name, gone, come }: GroupChange): string {
  const lines = [
    `${SIGNS[kind]} ${shown(`${namespace}/${name}`)}`,
    ...gone.map(line => `    - ${line}`),
    ...come.map(line => `    + ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

function summary(changes: readonly GroupChange[]): string {
  if (changes.length === 0) return 'no changes\n';
  const kinds = (['added', 'changed', 'removed'] as const).map(
    kind => `${changes.filter(change => change.kind === kind).length} ${kind}`,
  );
  return `${kinds.join(', ')}\n`;
}
