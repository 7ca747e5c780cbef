/** Limits of the tenant. */
import { type YamlEntry, yamlEntries } from '../values/yaml-entries.ts';
import { fetchText } from './client.ts';

export async function fetchLimits(signal?: AbortSignal): Promise<readonly YamlEntry[]> {
  return yamlEntries(await fetchText('/config/tenant/v1/limits', { signal }));
}
