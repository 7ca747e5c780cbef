/** HTTP client for rule groups, compatible with lokitool: one group per request. */

import { messageOf } from '../../shared/base/model/errors.ts';
import type { Namespaces } from '../../shared/server/rules/compare-groups.ts';
import { formatGroup, readNamespaces } from '../../shared/server/rules/rule-yaml.ts';
import { validateGroup } from '../../shared/server/rules/validate-group.ts';
import type { RuleGroup } from '../../shared/storage/catalog/rule-group.ts';
import { CommandError } from './command-error.ts';
import { type Answer, ask, endpoint, refusal, type SentRequest, type StoreFlags } from './store-client.ts';

const RULES_PATH = '/loki/api/v1/rules';
const REQUEST_TIMEOUT_MS = 60_000;

/** All groups of the tenant. Throws CommandError. */
export async function listGroups(store: StoreFlags): Promise<Namespaces> {
  const answer = await send(store, 'GET', []);
  // The tenant has no groups.
  if (answer.status === 404) return new Map();
  const { text } = expectStatus(answer, 200);
  try {
    // The store validated these groups, so templates and rule counts are not checked again.
    return new Map(
      [...readNamespaces(text)].map(([name, groups]) => [
        name,
        groups.map(group => validateGroup(group, 0, () => undefined)),
      ]),
    );
  } catch (error) {
    throw new CommandError(`cannot read the rules of the store: ${messageOf(error)}`, { cause: error });
  }
}

export async function putGroup(store: StoreFlags, namespace: string, group: RuleGroup): Promise<void> {
  const body = formatGroup(group);
  expectStatus(await send(store, 'POST', [namespace], body), 202);
}

/** Deletes a group, or the whole namespace if no name is given. Throws CommandError if it does not exist. */
export async function removeGroup(store: StoreFlags, namespace: string, name?: string): Promise<void> {
  const path = name === undefined ? [namespace] : [namespace, name];
  // Deleting does not report if the group existed.
  if (name !== undefined) expectStatus(await send(store, 'GET', path), 200);
  expectStatus(await send(store, 'DELETE', path), 202);
}

function send(
  store: StoreFlags,
  method: SentRequest['method'],
  path: readonly string[],
  body?: string,
): Promise<Answer> {
  const url = endpoint(store, RULES_PATH + path.map(segmentOf).join(''));
  const headers = { 'content-type': 'application/yaml' };
  return ask(store, url, { method, headers, body, timeoutMs: REQUEST_TIMEOUT_MS });
}

/**
 * Encodes a path segment. Without the check, a request for one group could become one for its namespace: URLs
 * drop `.` and `..`, escaped or not.
 */
function segmentOf(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new CommandError(`'${name}' is not a valid name of a namespace or group`);
  if (!name.isWellFormed()) throw new CommandError(`'${name}' is not valid text`);
  return `/${encodeURIComponent(name)}`;
}

function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new CommandError(refusal(answer));
  return answer;
}
