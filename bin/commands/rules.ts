/**
 * `logboom rules lint|diff|load|list|delete|test`: manages rule groups in files and in a store
 * (docs/reference/rules.md).
 */
import { type Command, Option } from 'commander';
import { compareGroups, type GroupChange } from '../../shared/server/rules/compare-groups.ts';
import { formatNamespaces } from '../../shared/server/rules/rule-yaml.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { addExamples } from '../cli/examples.ts';
import { lintFiles, readFiles } from '../cli/rule-files.ts';
import { listGroups, putGroup, removeGroup } from '../cli/rules-client.ts';
import { endWithReader, print, shown } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { registerTest } from './rules-test.ts';

interface PruneFlags extends StoreFlags {
  readonly prune: boolean;
}

const NOTES = `
A file has "groups:" with a list of rule groups, and optionally "namespace:"; the default is the file name.

Examples:
  logboom rules lint rules/*.yaml
  logboom rules test rules/shop.test.yaml
  logboom rules diff rules/*.yaml
  logboom rules load rules/*.yaml --prune`;

const SIGNS: Readonly<Record<GroupChange['kind'], string>> = { added: '+', changed: '~', removed: '-' };

export function register(program: Command): void {
  const group = program
    .command('rules')
    .description('manage recording and alerting rules: lint, diff, load, list, delete, test')
    .addHelpText('after', NOTES);
  const prune = () =>
    new Option('--prune', 'also delete groups of these namespaces that are in no file').default(false);
  addExamples(
    group
      .command('lint')
      .description('validate rule files without a store')
      .argument('<files...>', 'rule files'),
    'logboom rules lint rules/shop.yaml',
    'logboom rules lint rules/*.yaml',
  ).action(asAction(lint));
  addExamples(
    addStoreOptions(
      group
        .command('diff')
        .description('show what load would change')
        .argument('<files...>', 'rule files')
        .addOption(prune()),
    ),
    'logboom rules diff rules/*.yaml',
    'logboom rules diff rules/*.yaml --prune --tenant shop',
  ).action(asAction(diff));
  addExamples(
    addStoreOptions(
      group
        .command('load')
        .description('load rule groups from files into the store')
        .argument('<files...>', 'rule files')
        .addOption(prune()),
    ),
    'logboom rules load rules/*.yaml',
    'logboom rules load rules/*.yaml --prune',
  ).action(asAction(load));
  addExamples(
    addStoreOptions(group.command('list').description('print the rule groups of the store as YAML')),
    'logboom rules list',
    'logboom rules list --tenant shop > rules.yaml',
  ).action(asAction(list));
  addExamples(
    addStoreOptions(
      group
        .command('delete')
        .description('delete a rule group or a namespace')
        .argument('<namespace>', 'namespace of the group')
        .argument('[group]', 'name of the group (default: all groups of the namespace)'),
    ),
    'logboom rules delete shop',
    'logboom rules delete shop errors',
  ).action(asAction(remove));
  registerTest(group);
}

async function lint(files: readonly string[]): Promise<void> {
  const reports = await lintFiles(files);
  for (const { problems } of reports) for (const problem of problems) await print(`${problem}\n`);
  const count = reports.reduce((sum, { problems }) => sum + problems.length, 0);
  if (count > 0) throw new CommandError(`${count} ${count === 1 ? 'problem' : 'problems'}`);
  const groups = reports.reduce((sum, report) => sum + report.groups.length, 0);
  await print(`${groups} ${groups === 1 ? 'group' : 'groups'}, no problems\n`);
}

async function diff(files: readonly string[], { prune, ...store }: PruneFlags): Promise<void> {
  const changes = compareGroups(await listGroups(store), await readFiles(files), prune);
  for (const change of changes) await print(changeText(change));
  await print(summary(changes));
}

async function load(files: readonly string[], { prune, ...store }: PruneFlags): Promise<void> {
  const wanted = await readFiles(files);
  const changes = compareGroups(await listGroups(store), wanted, prune);
  for (const { kind, namespace, name } of changes) {
    if (kind === 'removed') await removeGroup(store, namespace, name);
    else await putGroup(store, namespace, wanted.get(namespace)!.find(group => group.name === name)!);
    await print(`${SIGNS[kind]} ${shown(`${namespace}/${name}`)}\n`);
  }
  await print(summary(changes));
}

async function list(store: StoreFlags): Promise<void> {
  endWithReader();
  const namespaces = await listGroups(store);
  if (namespaces.size > 0) await print(formatNamespaces(namespaces));
}

async function remove(namespace: string, group: string | undefined, store: StoreFlags): Promise<void> {
  await removeGroup(store, namespace, group);
  await print(`- ${shown(namespace)}${group === undefined ? '' : `/${shown(group)}`}\n`);
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
