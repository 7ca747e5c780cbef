/** State of rules and alerts in the format of Prometheus (docs/dev/wire-format.md#rules). */

import { ClientError } from '../../../base/model/errors.ts';
import type { GroupState, Rule, StoredGroup } from '../../../storage/catalog/rule-group.ts';
import { activeAlerts, groupAnswer, type RuleFilter } from '../../rules/rule-answers.ts';
import type { HttpContext } from '../context.ts';
import type { HttpResponse } from '../message.ts';
import { type Params, param, paramValues, parseParams } from '../params.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { tenantsOf } from '../tenant.ts';
import { jsonOf, problemJson } from './rules.ts';

/** States read concurrently. Each is a small read of the table. */
const READS_AT_ONCE = 16;

const KINDS = new Map<string, Rule['kind']>([
  ['alert', 'alerting'],
  ['record', 'recording'],
]);

export const showRules: Handler<HttpContext> = async (context, request) => {
  const tenant = tenantOf(request);
  if (typeof tenant !== 'string') return tenant;
  const params = parseParams(request);
  const type = param(params, 'type');
  const kind = KINDS.get(type.toLowerCase());
  if (type !== '' && kind === undefined) return problemJson(400, `not supported value "${type}"`);
  const filter = filterOf(params, kind);
  const { evaluationIntervalNs } = context.config.ruler;
  const groups: object[] = [];
  for (const { stored, state } of await loaded(context, tenant)) {
    const answer = groupAnswer(stored, state, filter, evaluationIntervalNs);
    if (answer !== undefined) groups.push(answer);
  }
  return success({ groups });
};

export const showAlerts: Handler<HttpContext> = async (context, request) => {
  const tenant = tenantOf(request);
  if (typeof tenant !== 'string') return tenant;
  const groups = await loaded(context, tenant);
  return success({ alerts: groups.flatMap(({ stored, state }) => activeAlerts(stored, state)) });
};

interface LoadedGroup {
  readonly stored: StoredGroup;
  readonly state: GroupState | undefined;
}

/** Sorted by namespace. */
async function loaded({ rules }: HttpContext, tenant: string): Promise<LoadedGroup[]> {
  const groups = await rules.store.list(tenant);
  const found: LoadedGroup[] = [];
  for (let i = 0; i < groups.length; i += READS_AT_ONCE) {
    const part = groups.slice(i, i + READS_AT_ONCE);
    const states = await Promise.all(
      part.map(({ namespace, group }) => rules.states.read(tenant, namespace, group.name)),
    );
    part.forEach((stored, index) => {
      found.push({ stored, state: states[index] });
    });
  }
  return found;
}

/** Returns the tenant, or an error response if the request does not name exactly one. Throws 401. */
function tenantOf(request: RoutedRequest): string | HttpResponse {
  try {
    const tenants = tenantsOf(request);
    return tenants.length > 1 ? problemJson(400, 'too many org ids found') : tenants[0];
  } catch (error) {
    if (error instanceof ClientError && error.status === 400)
      return problemJson(500, 'no valid org id found');
    throw error;
  }
}

function filterOf(params: Params, kind: RuleFilter['kind']): RuleFilter {
  const values = (name: string) => [...paramValues(params, name), ...paramValues(params, `${name}[]`)];
  return { kind, files: values('file'), groups: values('rule_group'), names: values('rule_name') };
}

function success(data: object): HttpResponse {
  return jsonOf(200, { status: 'success', data, errorType: '', error: '' });
}
