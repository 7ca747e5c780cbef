/** Selects the threads that start with the store. Other threads start with their first request. */

import type { Config } from '../shared/server/admin/config-fields.ts';
import type { Catalog } from '../shared/storage/catalog/catalog.ts';
import { ROLES, type Role } from './threads/roles.ts';

/**
 * Roles that start with the store. All roles start if the store has data, so that no request waits for a
 * thread after a restart, and if other processes share the store.
 */
export async function workingRoles(
  catalog: Catalog,
  { config, isAlone }: { readonly config: Config; readonly isAlone: boolean },
): Promise<ReadonlySet<Role>> {
  if (!isAlone) return new Set(ROLES);
  const hasAny = async (tenants: AsyncIterable<string>) => {
    for await (const _ of tenants) return true;
    return false;
  };
  if ((await hasAny(catalog.tenants())) || (await hasAny(catalog.deletes.tenants()))) return new Set(ROLES);
  const working = new Set<Role>();
  const { ruleGroups, ruleStates } = catalog;
  const hasRules =
    config.ruler.storage.type === 'local' ||
    (await ruleGroups.tenants()).length > 0 ||
    (await ruleStates.tenants()).length > 0;
  if (hasRules) working.add('query');
  return working;
}
