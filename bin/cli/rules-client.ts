/** Rule groups of a store by HTTP, as lokitool asks for them: one group in a request. */
import { parse as parseYaml } from 'yaml';
import type { RuleGroup } from '../../shared/catalog/rule-group.ts';
import { messageOf } from '../../shared/model/errors.ts';
import type { Namespaces } from '../../shared/rules/compare-groups.ts';
import { formatGroup, readRuleFile } from '../../shared/rules/rule-yaml.ts';
import { validateGroup } from '../../shared/rules/validate-group.ts';
import { CommandError } from './command-error.ts';
import { type Answer, ask, endpoint, refusal, type SentRequest, type StoreFlags } from './store-client.ts';

const RULES_PATH = '/loki/api/v1/rules';
const REQUEST_TIMEOUT_MS = 60_000;

/** All groups of the tenant. Throws CommandError. */
export async function listGroups(store: StoreFlags): Promise<Namespaces> {
  const answer = await send(store, 'GET', []);
  // There are none.
  if (answer.status === 404) return new Map();
  const { text } = expectStatus(answer, 200);
  try {
    // A group is read as the store reads one, so each goes back into text first.
    const namespaces = parseYaml(text, { schema: 'failsafe' }) as Record<string, unknown[]>;
    return new Map(Object.entries(namespaces).map(([name, groups]) => [name, groups.map(readShown)]));
  } catch (error) {
    throw new CommandError(`the rules of the store cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

export async function putGroup(store: StoreFlags, namespace: string, group: RuleGroup): Promise<void> {
  const body = formatGroup(group);
  expectStatus(await send(store, 'POST', [namespace], body), 202);
}

/** Without a name, the whole namespace. */
export async function removeGroup(store: StoreFlags, namespace: string, name?: string): Promise<void> {
  const path = name === undefined ? [namespace] : [namespace, name];
  expectStatus(await send(store, 'DELETE', path), 202);
}

/** What a store shows passed its checks: templates are not looked at again. */
function readShown(group: unknown): RuleGroup {
  const [written] = readRuleFile(JSON.stringify({ groups: [group] })).groups;
  return validateGroup(written, 0, () => undefined);
}

function send(
  store: StoreFlags,
  method: SentRequest['method'],
  path: readonly string[],
  body?: string,
): Promise<Answer> {
  // Set as a whole: a dot or slash in a name must not become a step in the path.
  const segments = path.map(name => `/${encodeURIComponent(name).replaceAll('.', '%2E')}`);
  const url = endpoint(store, RULES_PATH + segments.join(''));
  const headers = { 'content-type': 'application/yaml' };
  return ask(store, url, { method, headers, body, timeoutMs: REQUEST_TIMEOUT_MS });
}

function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new CommandError(refusal(answer));
  return answer;
}
