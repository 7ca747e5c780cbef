/**
 * `logboom rules lint|diff|load|list|delete|test`: manages rule groups in files and in a store
 * (docs/reference/rules.md).
 */
import { type Command, Option } from 'commander';
import { asAction, CommandError } from '../cli/command-error.ts';
import { addExamples } from '../cli/examples.ts';
import type { PruneFlags } from '../cli/rule-changes.ts';
import { removeGroup, rulesAnswer } from '../cli/rules-client.ts';
import { endWithReader, print, shown } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { registerTest } from './rules-test.ts';

const NOTES = `
A file has "groups:" with a list of rule groups, and optionally "namespace:"; the default is the file name.

Examples:
  logboom rules lint rules/*.yaml
  logboom rules test rules/shop.test.yaml
  logboom rules diff rules/*.yaml
  logboom rules load rules/*.yaml --prune`;

export function register(program: Command): void {
  const group = program
    .command('rules')
    .description('manage recording and alerting rules: lint, diff, load, list, delete, test')
    .addHelpText('after', NOTES);
  const prune = () => new Option('--prune', 'also delete groups of these namespaces that are in no file');
  addExamples(
    group
      .command('lint')
      .description('validate rule files without a store')
      .argument('<files...>', 'rule files'),
    'logboom rules lint rules/shop.yaml',
    'logboom rules lint rules/*.yaml',
  ).action(
    asAction(async (files: readonly string[]) => (await import('../cli/rule-changes.ts')).lint(files)),
  );
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
  ).action(
    asAction(async (files: readonly string[], flags: PruneFlags) =>
      (await import('../cli/rule-changes.ts')).diff(files, flags),
    ),
  );
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
  ).action(
    asAction(async (files: readonly string[], flags: PruneFlags) =>
      (await import('../cli/rule-changes.ts')).load(files, flags),
    ),
  );
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

async function list(store: StoreFlags): Promise<void> {
  endWithReader();
  const answer = await rulesAnswer(store);
  if (answer === undefined) return;
  if (!/yaml/.test(answer.headers.get('content-type') ?? ''))
    throw new CommandError(
      'unexpected response, not YAML; check that --addr points to a Logboom or Loki server',
    );
  await print(answer.text);
}

async function remove(namespace: string, group: string | undefined, store: StoreFlags): Promise<void> {
  await removeGroup(store, namespace, group);
  await print(`- ${shown(namespace)}${group === undefined ? '' : `/${shown(group)}`}\n`);
}
