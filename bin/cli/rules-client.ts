/** HTTP client for rule groups, compatible with lokitool. Groups are YAML texts here (rule-groups-client.ts parses them). */
import { CommandError } from './command-error.ts';
import {
  endpoint,
  refusal,
  type SentRequest,
  type StoreFlags,
  type StoreResponse,
  sendRequest,
} from './store-client.ts';

const RULES_PATH = '/loki/api/v1/rules';
const REQUEST_TIMEOUT_MS = 60_000;

/** All groups of the tenant by namespace, as the store writes them. Undefined if it has none. Throws CommandError. */
export async function rulesAnswer(store: StoreFlags): Promise<StoreResponse | undefined> {
  const answer = await send(store, 'GET', []);
  return answer.status === 404 ? undefined : expectStatus(answer, 200);
}

/** @param body the group as YAML */
export async function putGroupText(store: StoreFlags, namespace: string, body: string): Promise<void> {
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
): Promise<StoreResponse> {
  const url = endpoint(store, RULES_PATH + path.map(segmentOf).join(''));
  const headers = { 'content-type': 'application/yaml' };
  return sendRequest(store, url, { method, headers, body, timeoutMs: REQUEST_TIMEOUT_MS });
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

function expectStatus(answer: StoreResponse, status: number): StoreResponse {
  if (answer.status !== status) throw new CommandError(refusal(answer));
  return answer;
}
