/** Descriptions of rules, delete requests, tokens, maintenance and the state of the store. */
import { type EndpointDoc, type EndpointDocs, JSON_BODY, TEXT_BODY, YAML_BODY } from './endpoint-doc.ts';
import { ringDoc } from './query-docs.ts';
import { SAVED_DOCS } from './saved-docs.ts';

const GROUP =
  'name: errors\nrules:\n  - alert: ManyErrors\n    expr: sum(count_over_time({app="shop"} |= "error" [1m])) > 5\n';

function ruleGroups(root: string, tag: 'rules' | 'legacy'): EndpointDocs {
  const rules = (summary: string, more: Partial<EndpointDoc> = {}): EndpointDoc => ({
    tag,
    summary,
    path: { namespace: tag, group: 'errors' },
    status: 200,
    type: YAML_BODY,
    others: { 404: 'namespace or group not found' },
    ...more,
  });
  return {
    [`GET ${root}`]: rules('List rule groups by namespace'),
    [`GET ${root}/{namespace}`]: rules('List the rule groups of a namespace'),
    [`POST ${root}/{namespace}`]: rules('Create or replace a rule group', {
      body: { about: 'a rule group', types: { [YAML_BODY]: GROUP } },
      status: 202,
      type: JSON_BODY,
      schema: 'RuleChange',
      others: {
        400: 'the group is invalid or exceeds a limit of the tenant',
        413: 'the group is larger than 256 KiB',
      },
    }),
    [`DELETE ${root}/{namespace}`]: rules('Delete a namespace with its rule groups', {
      status: 202,
      type: JSON_BODY,
      schema: 'RuleChange',
    }),
    [`GET ${root}/{namespace}/{group}`]: rules('Show a rule group'),
    [`DELETE ${root}/{namespace}/{group}`]: rules('Delete a rule group', {
      status: 202,
      type: JSON_BODY,
      schema: 'RuleChange',
      others: {},
    }),
  };
}

function status(summary: string, type: string = TEXT_BODY, more: Partial<EndpointDoc> = {}): EndpointDoc {
  return { tag: 'status', summary, status: 200, type, ...more };
}

function upkeep(summary: string, code: number, more: Partial<EndpointDoc> = {}): EndpointDoc {
  return { tag: 'upkeep', summary, status: code, ...more };
}

export const UPKEEP_DOCS: EndpointDocs = {
  ...ruleGroups('/svc/api/v1/rules', 'rules'),
  ...ruleGroups('/api/compat/rules', 'legacy'),
  'GET /compat/api/v1/rules': {
    tag: 'rules',
    summary: 'List rules with state, health and alerts',
    parameters: [
      { name: 'type', about: 'only rules of this type: `alert` or `record`', example: 'alert' },
      { name: 'file[]', about: 'only this namespace', repeated: true },
      { name: 'rule_group[]', about: 'only this group', repeated: true },
      { name: 'rule_name[]', about: 'only rules with this name', repeated: true },
    ],
    status: 200,
    type: JSON_BODY,
    schema: 'RuleStates',
  },
  'GET /compat/api/v1/alerts': {
    tag: 'rules',
    summary: 'List pending and firing alerts',
    status: 200,
    type: JSON_BODY,
    schema: 'Alerts',
  },
  ...SAVED_DOCS,
  'POST,PUT /svc/api/v1/delete': {
    tag: 'delete',
    summary: 'Create a delete request',
    about: 'The ID is in the response header `X-Delete-Request-ID`. Parameters must be in the URL.',
    parameters: [
      { name: 'query', about: 'log query', required: true, example: '{app="shop"} |= "user=4711"' },
      { name: 'start', about: 'RFC 3339 or Unix seconds', required: true, example: '1767225600' },
      { name: 'end', about: 'RFC 3339 or Unix seconds; default: now', example: '1767225700' },
      { name: 'max_interval', about: 'length of the parts whose progress is reported, such as `24h`' },
    ],
    status: 204,
    others: {
      400: 'the request is invalid',
      403: 'deletes are disabled for the tenant',
      404: 'deletes are disabled for the store',
    },
  },
  'GET /svc/api/v1/delete': {
    tag: 'delete',
    summary: 'List delete requests',
    parameters: [
      { name: 'start', about: 'only requests whose range overlaps this one', example: '1767225600' },
      { name: 'end', about: 'only requests whose range overlaps this one' },
    ],
    status: 200,
    type: JSON_BODY,
    schema: 'DeleteRequests',
  },
  'DELETE /svc/api/v1/delete': {
    tag: 'delete',
    summary: 'Cancel a delete request',
    parameters: [
      { name: 'request_id', about: 'ID of the request', required: true },
      {
        name: 'force',
        about: 'also cancel a request that is in progress; removed entries stay removed',
        type: 'boolean',
      },
    ],
    status: 204,
    others: {
      400: 'the request is in progress and `force` is not set, or it is processed',
      404: 'request not found',
    },
  },
  'GET /svc/api/v1/status/deletes': {
    tag: 'delete',
    summary: 'Show the progress of delete requests',
    status: 200,
    type: JSON_BODY,
    schema: 'DeleteProgress',
  },
  'POST /svc/api/v1/tokens': {
    tag: 'access',
    summary: 'Create a token',
    body: {
      about: 'name, scopes, tenants, and optionally the time of expiry',
      types: { [JSON_BODY]: '{"name":"agents","scopes":["logs:write"],"tenants":["shop"]}' },
    },
    status: 200,
    type: JSON_BODY,
    schema: 'NewToken',
    others: {
      400: 'the body is invalid',
      403: 'tokens are disabled, or the token does not have the scope `admin` for all tenants',
    },
  },
  'GET /svc/api/v1/tokens': {
    tag: 'access',
    summary: 'List tokens',
    status: 200,
    type: JSON_BODY,
    schema: 'Tokens',
    others: { 403: 'tokens are disabled, or the token does not have the scope `admin` for all tenants' },
  },
  'DELETE /svc/api/v1/tokens/{id}': {
    tag: 'access',
    summary: 'Revoke a token',
    path: { id: '2kPq81aZxYw' },
    status: 200,
    type: JSON_BODY,
    schema: 'Token',
    others: {
      403: 'tokens are disabled, or the token does not have the scope `admin` for all tenants',
      404: 'token not found',
    },
  },
  'GET /svc/api/v1/auth/me': {
    tag: 'access',
    summary: 'Show the identity and permissions of the caller',
    status: 200,
    type: JSON_BODY,
    schema: 'Caller',
  },
  'POST /svc/api/v1/auth/ticket': {
    tag: 'access',
    summary: 'Create a ticket that opens one live tail in a browser',
    status: 200,
    type: JSON_BODY,
    schema: 'Ticket',
    others: { 400: 'tokens are disabled' },
  },
  'GET,POST /flush': upkeep('Merge all chunks in the background', 204),
  'POST /flush/tenant': upkeep('Merge and index the chunks of a tenant, and wait for it', 204, {
    parameters: [
      { name: 'streams', about: 'stream selector; default: all streams', example: '{app="shop"}' },
    ],
    others: { 202: 'the merge takes longer and continues in the background', 400: 'the selector is invalid' },
  }),
  'PUT /sync-indexes': upkeep('Start a sync of the day indexes', 202),
  'GET /sync-indexes': upkeep('Show the state of the index sync', 200, {
    type: JSON_BODY,
    schema: 'IndexSync',
  }),
  'GET /svc/api/v1/cache/generation_numbers': upkeep(
    'Show the cache generation, which increases when cached results are out of date',
    200,
    {
      type: JSON_BODY,
      schema: 'GenerationNumber',
    },
  ),
  'POST /svc/api/v1/cache/generation_numbers/increase': upkeep('Increase the cache generation', 204),
  'GET /ingester/prepare_shutdown': upkeep('Show whether chunks are merged before the next shutdown', 200, {
    type: TEXT_BODY,
  }),
  'POST /ingester/prepare_shutdown': upkeep('Merge chunks before the next shutdown', 204),
  'DELETE /ingester/prepare_shutdown': upkeep('Do not merge chunks before the next shutdown', 204),
  'GET,POST /ingester/shutdown': upkeep('Merge chunks and stop accepting pushes', 204, {
    parameters: [
      { name: 'flush', about: 'merge all chunks first (default true)', type: 'boolean' },
      { name: 'terminate', about: 'stop the process (default true)', type: 'boolean' },
    ],
    others: { 503: 'the process is already stopping' },
  }),
  'GET,POST /ingester/prepare_partition_downscale': upkeep('Report that there are no partitions', 405),
  'GET /svc/api/v1/status/maintenance': status('Show the last run of each job, and the backlog', JSON_BODY, {
    schema: 'MaintenanceStatus',
  }),
  'GET,POST /ring': ringDoc('List the processes that run ingest'),
  'GET,POST /distributor/ring': ringDoc('List the processes that accept pushes'),
  'GET,POST /indexgateway/ring': ringDoc('List the processes that sync indexes'),
  'GET,POST /ruler/ring': ringDoc('List the processes that evaluate rules'),
  'GET,POST /compactor/ring': ringDoc('List the processes that run compaction'),
  'GET,POST /scheduler/ring': ringDoc('List the query front ends'),
  'GET,POST /pattern/ring': ringDoc('List the processes that mine patterns'),
  'GET,POST /partition-ring': ringDoc('List partitions: none exist'),
  'GET,POST /memberlist': ringDoc('List all processes'),
  'GET /ready': status('Show whether the process can serve requests', TEXT_BODY, {
    others: { 503: 'the process is starting or stopping' },
  }),
  'GET /metrics': status('Show metrics in the text format of Prometheus'),
  'GET /services': status('List the services of the process with their states'),
  'GET /log_level': status('Show the minimum log level', JSON_BODY, { schema: 'LogLevel' }),
  'POST /log_level': status('Set the minimum log level until the next start', JSON_BODY, {
    schema: 'LogLevel',
    parameters: [
      { name: 'log_level', about: '`debug`, `info`, `warn` or `error`', required: true, example: 'info' },
    ],
    others: { 400: 'unknown level' },
  }),
  'GET /config': status('Show the configuration in force, without secrets', TEXT_BODY, {
    parameters: [
      {
        name: 'mode',
        about: '`diff` (only values that differ from the defaults) or `defaults`',
        example: 'diff',
      },
      { name: 'q', about: 'path of a key, such as `server.http_listen_port`; up to 20', repeated: true },
    ],
  }),
  'GET /config/tenant/v1/limits': status('Show the limits of the tenant'),
  'GET /svc/api/v1/status/buildinfo': status('Show the versions of the API and of Logboom', JSON_BODY, {
    schema: 'BuildInfo',
  }),
  'GET /svc/api/v1/openapi.json': status(
    'Show the description of the API as an OpenAPI document',
    JSON_BODY,
    { schema: 'OpenApi' },
  ),
};
