/** Rule groups: list, show, set, delete (docs/dev/wire-format.md#endpoints-of-rules, #checks-of-a-group). */

import { BadRequestError, ClientError, messageOf } from '../../../base/model/errors.ts';
import type { RuleGroup } from '../../../storage/catalog/rule-group.ts';
import { ReadOnlyRulesError } from '../../rules/local-rule-store.ts';
import { formatGroup, formatNamespaces, readGroup } from '../../rules/rule-yaml.ts';
import { validateGroup } from '../../rules/validate-group.ts';
import type { HttpContext } from '../context.ts';
import type { HttpResponse } from '../message.ts';
import { param, parseParams } from '../params.ts';
import { text } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

const YAML_TYPE = 'application/yaml';
const NO_GROUPS = 'no rule groups found';
const NO_GROUP = 'group does not exist';
const NO_NAMESPACE = 'group namespace does not exist';

export const listRules: Handler<HttpContext> = async (context, request) => {
  const tenant = rulesTenant(context, request);
  return namespaces(request, (await context.rules.store.list(tenant)).map(toPair));
};

export const listNamespace: Handler<HttpContext> = async (context, request) => {
  const tenant = rulesTenant(context, request);
  const wanted = namespaceOf(request);
  if (typeof wanted !== 'string') return wanted;
  const groups = await context.rules.store.list(tenant);
  return namespaces(request, groups.filter(({ namespace }) => namespace === wanted).map(toPair));
};

export const showGroup: Handler<HttpContext> = async (context, request) => {
  const tenant = rulesTenant(context, request);
  const [namespace, name] = [namespaceOf(request), groupNameOf(request)];
  if (typeof namespace !== 'string') return namespace;
  if (typeof name !== 'string') return name;
  const found = await context.rules.store.get(tenant, namespace, name).catch(refusal(400));
  if (found === undefined) throw new ClientError(404, NO_GROUP);
  return text(formatGroup(found.group), 200, YAML_TYPE);
};

export const setGroup: Handler<HttpContext> = async (context, request) => {
  const tenant = rulesTenant(context, request);
  const namespace = namespaceOf(request);
  if (typeof namespace !== 'string') return namespace;
  const { rulerMaxRulesPerRuleGroup: maxRules, rulerMaxRuleGroupsPerTenant: maxGroups } =
    context.limitsOf(tenant);
  const { body } = request;
  const written = readGroup(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  const group = validateGroup(written, maxRules, context.rules.checkTemplate);
  const problem = traversal(group.name, 'groupname');
  if (problem !== undefined) return problem;
  await context.rules.store.set(tenant, namespace, group, maxGroups).catch(refusal(500));
  return accepted();
};

export const deleteGroup: Handler<HttpContext> = async (context, request) => {
  const tenant = rulesTenant(context, request);
  const [namespace, name] = [namespaceOf(request), groupNameOf(request)];
  if (typeof namespace !== 'string') return namespace;
  if (typeof name !== 'string') return name;
  // Deleting a missing group succeeds, as in the reference. Only a namespace without groups is 404.
  return deleted(() => context.rules.store.delete(tenant, namespace, name));
};

export const deleteNamespace: Handler<HttpContext> = async (context, request) => {
  const tenant = rulesTenant(context, request);
  const namespace = namespaceOf(request);
  if (typeof namespace !== 'string') return namespace;
  return deleted(() => context.rules.store.deleteNamespace(tenant, namespace), NO_NAMESPACE);
};

/** Tenant of the request. Throws ClientError: 404 if the API is disabled, as for a missing route. */
function rulesTenant({ config }: HttpContext, request: RoutedRequest): string {
  if (!config.ruler.enableApi) throw new ClientError(404, '404 page not found');
  return singleTenant(request);
}

type NamedGroup = readonly [namespace: string, group: RuleGroup];

function toPair({ namespace, group }: { namespace: string; group: RuleGroup }): NamedGroup {
  return [namespace, group];
}

/** Formats groups by namespace. Throws 404 without groups. */
function namespaces(request: RoutedRequest, groups: readonly NamedGroup[]): HttpResponse {
  const labels = labelFilter(param(parseParams(request), 'labels'));
  const byName = new Map<string, RuleGroup[]>();
  for (const [namespace, group] of groups) {
    const rules = labels.length === 0 ? group.rules : group.rules.filter(rule => hasAny(rule.labels, labels));
    if (labels.length > 0 && rules.length === 0) continue;
    const list = byName.get(namespace) ?? [];
    byName.set(namespace, [...list, { ...group, rules }]);
  }
  if (byName.size === 0) throw new ClientError(404, NO_GROUPS);
  return text(formatNamespaces(byName), 200, YAML_TYPE);
}

/** Parses `k:v,k:v`. Throws BadRequestError. */
function labelFilter(written: string): (readonly [string, string])[] {
  if (written === '') return [];
  return written.split(',').map(pair => {
    const colon = pair.indexOf(':');
    if (colon <= 0) throw new BadRequestError('invalid labels: use name:value pairs separated by commas');
    return [pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()];
  });
}

function hasAny(
  labels: RuleGroup['rules'][number]['labels'],
  wanted: readonly (readonly [string, string])[],
) {
  return wanted.some(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

function namespaceOf({ pathParams }: RoutedRequest): string | HttpResponse {
  return traversal(pathParams.namespace, 'namespace') ?? pathParams.namespace;
}

function groupNameOf({ pathParams }: RoutedRequest): string | HttpResponse {
  return traversal(pathParams.group, 'groupname') ?? pathParams.group;
}

/** Refuses names that would leave the folder, because names represent files. */
function traversal(name: string, what: string): HttpResponse | undefined {
  if (!/(?:^|[/\\])\.\.?(?:[/\\]|$)/.test(name)) return undefined;
  return problemJson(400, `invalid ${what}: path traversal not allowed`);
}

/** @param missing message of the 404 response if nothing existed; absent if that is not an error */
async function deleted(remove: () => Promise<boolean>, missing?: string): Promise<HttpResponse> {
  try {
    if ((await remove()) || missing === undefined) return accepted();
  } catch (error) {
    if (error instanceof ReadOnlyRulesError) return problemJson(500, messageOf(error));
    throw error;
  }
  throw new ClientError(404, missing);
}

function refusal(status: number): (error: unknown) => never {
  return error => {
    if (error instanceof ReadOnlyRulesError) throw new ClientError(status, error.message);
    throw error;
  };
}

function accepted(): HttpResponse {
  return jsonOf(202, { status: 'success', data: null, errorType: '', error: '' });
}

/** Error format of the Prometheus API. */
export function problemJson(status: number, error: string): HttpResponse {
  const errorType = status < 500 ? 'bad_data' : 'server_error';
  return jsonOf(status, { status: 'error', data: null, errorType, error });
}

export function jsonOf(status: number, value: unknown): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
