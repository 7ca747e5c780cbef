/** Limits of the tenant. */
import { type YamlEntry, yamlEntries } from '../values/yaml-entries.ts';
import { ask } from './client.ts';

export async function askLimits(signal?: AbortSignal): Promise<readonly YamlEntry[]> {
  return yamlEntries(await ask('/config/tenant/v1/limits', { signal }));
}
