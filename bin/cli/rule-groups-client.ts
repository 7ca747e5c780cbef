/** Reads and writes rule groups of a store: one group per request. */
import { messageOf } from '../../shared/base/model/errors.ts';
import type { Namespaces } from '../../shared/server/rules/compare-groups.ts';
import { formatGroup, readNamespaces } from '../../shared/server/rules/rule-yaml.ts';
import { validateGroup } from '../../shared/server/rules/validate-group.ts';
import type { RuleGroup } from '../../shared/storage/catalog/rule-group.ts';
import { CommandError } from './command-error.ts';
import { putGroupText, rulesAnswer } from './rules-client.ts';
import type { StoreFlags } from './store-client.ts';

/** All groups of the tenant. Throws CommandError. */
export async function listGroups(store: StoreFlags): Promise<Namespaces> {
  const answer = await rulesAnswer(store);
  if (answer === undefined) return new Map();
  try {
    // The store validated these groups, so templates and rule counts are not checked again.
    return new Map(
      [...readNamespaces(answer.text)].map(([name, groups]) => [
        name,
        groups.map(group => validateGroup(group, 0, () => undefined)),
      ]),
    );
  } catch (error) {
    throw new CommandError(`cannot read the rules of the store: ${messageOf(error)}`, { cause: error });
  }
}

export function putGroup(store: StoreFlags, namespace: string, group: RuleGroup): Promise<void> {
  return putGroupText(store, namespace, formatGroup(group));
}
