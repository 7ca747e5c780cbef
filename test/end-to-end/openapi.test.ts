/** Sends the examples of the description of the API, as the store serves it, and compares statuses and bodies with the described ones. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CheckResponse, responseChecks } from '../support/response-schemas.ts';
import { startStore, type TestStore } from './support/store.ts';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
}
interface Operation {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}
interface Content {
  readonly schema: { readonly $ref?: string };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** It would end the process that the tests run in. */
const NOT_SENT = new Set(['/ingester/shutdown']);
/** The responses of a store without tokens, to a request without an upgrade, for an unknown ID, and for a version that was replaced. */
const REFUSED_HERE: Readonly<Record<string, number>> = {
  'post /svc/api/v1/tokens': 403,
  'get /svc/api/v1/tokens': 403,
  'delete /svc/api/v1/tokens/{id}': 403,
  'post /svc/api/v1/auth/ticket': 400,
  'get /svc/api/v1/tail': 400,
  'delete /svc/api/v1/delete': 404,
  'delete /svc/api/v1/ui/queries/{id}': 409,
  'delete /svc/api/v1/ui/boards/{id}': 409,
};

let store: TestStore;
let document: Document;
let check: CheckResponse;
beforeAll(async () => {
  store = await startStore(
    'auth_enabled: false\npattern_ingester: {enabled: true}\nlimits_config: {reject_old_samples: false}',
  );
  const answer = await store.client.send({ method: 'GET', path: '/loki/api/v1/openapi.json' });
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=UTF-8']);
  document = answer.json() as Document;
  check = responseChecks(answer.json() as Record<string, unknown>);
});
afterAll(() => store.stop());

interface Sent {
  readonly status: number;
  readonly text: string;
  json(): unknown;
}

/** IDs of items that the test created, by the path that created them. */
const created = new Map<string, string>();

function requestOf(path: string, method: string, { parameters, requestBody }: Operation) {
  const [search, headers] = [new URLSearchParams(), {} as Record<string, string>];
  let filled = path;
  for (const { $ref, name, in: location, example, required } of parameters) {
    if ($ref !== undefined || (example === undefined && !required)) continue;
    const made = location === 'path' ? created.get(path.replace(`/{${name}}`, '')) : undefined;
    const values = made !== undefined ? [made] : (Array.isArray(example) ? example : [example]).map(String);
    if (location === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(values[0]));
    else if (location === 'header') headers[name.toLowerCase()] = values[0];
    else for (const value of values) search.append(name, value);
  }
  const [type, { example }] = Object.entries(requestBody?.content ?? {})[0] ?? ['', {}];
  if (type !== '') headers['content-type'] = type;
  const body =
    example === undefined ? undefined : typeof example === 'string' ? example : JSON.stringify(example);
  return { method: method.toUpperCase(), path: `${filled}?${search}`, headers, body };
}

/** Violation of the schema of the operation by a JSON body, or undefined. */
function schemaFault({ responses }: Operation, { status, text, json }: Sent): string | undefined {
  const { $ref = '' } = responses[status]?.content?.['application/json']?.schema ?? {};
  return $ref === '' ? `no schema for ${text.slice(0, 100)}` : check($ref.split('/').at(-1)!, json());
}

test('each operation answers its example with a described status and body', async () => {
  const wrong: string[] = [];
  // Entries and groups first, because later requests query them. Deletes come last.
  const order = ['post', 'put', 'get', 'head', 'delete'];
  const operations = Object.entries(document.paths)
    .filter(([path]) => !NOT_SENT.has(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .sort((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
  expect(operations.length).toBeGreaterThan(90);
  for (const { path, method, operation } of operations) {
    const successes = Object.keys(operation.responses).filter(code => /^[123]/.test(code));
    const described = successes.length > 0 ? successes : [path.startsWith('/otlp') ? '400' : '405'];
    const refused = REFUSED_HERE[`${method} ${path}`];
    const wanted = refused === undefined ? described : [String(refused)];
    const answer = await store.client.send(requestOf(path, method, operation));
    if (method === 'post' && path.includes('/ui/')) {
      created.set(path, (answer.json() as { readonly data: { readonly id: string } }).data.id);
    }
    const status = String(answer.status);
    const isDescribed = Object.hasOwn(operation.responses, status);
    const type = answer.headers['content-type']?.split(';', 1)[0];
    const types = Object.keys(operation.responses[status]?.content ?? {});
    const isTyped =
      refused !== undefined || method === 'head' || types.length === 0 || types.includes(type ?? '');
    if (!wanted.includes(status) || !isDescribed || !isTyped) {
      wrong.push(
        `${method} ${path}: ${status}, not ${wanted.join(' or ')}; ${type}: ${answer.text.slice(0, 150)}`,
      );
    }
    if (type === 'application/json' && method !== 'head') {
      const fault = schemaFault(operation, answer);
      if (fault !== undefined) wrong.push(`${method} ${path}: ${fault}`);
    }
  }
  expect(wrong).toEqual([]);
});

describe('other forms of responses match their schemas', () => {
  beforeAll(async () => {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const values = Array.from({ length: 60 }, (_, i) => [
      String(nowNs - BigInt(i) * 1_000_000_000n),
      `{"level":"info","order":${i},"took":"${i}ms"}`,
      { trace_id: 'abc' },
    ]);
    const body = JSON.stringify({ streams: [{ stream: { app: 'forms' }, values }] });
    const headers = { 'content-type': 'application/json' };
    const { status } = await store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
    expect(status).toBe(204);
  });

  const selector = encodeURIComponent('{app="forms"}');
  const rate = encodeURIComponent('sum by (app) (rate({app="forms"}[1m]))');
  const categorize = { 'x-loki-response-encoding-flags': 'categorize-labels' };
  const grafana = { 'user-agent': 'Grafana/12.1.0' };
  test.each<[string, string, string, Record<string, string>, string]>([
    ['streams with categories', 'QueryResult', `query_range?query=${selector}|json`, categorize, '"parsed"'],
    ['an explained query', 'QueryResult', `query_range?query=${selector}&explain=true`, {}, '"textFilters"'],
    ['a matrix', 'QueryResult', `query_range?query=${rate}`, {}, '"matrix"'],
    ['a vector', 'QueryResult', `query?query=${rate}`, {}, '"vector"'],
    ['a scalar', 'QueryResult', 'query?query=1%2B1', {}, '"scalar"'],
    ['a warning', 'QueryResult', `query_range?query=${selector}&start=1&end=40000000`, grafana, '"warnings"'],
    ['no labels', 'Names', 'labels?start=1&end=2', {}, '"success"'],
    ['a volume over time', 'Volume', `index/volume_range?query=${selector}&step=1m`, {}, '"matrix"'],
    ['fields of JSON lines', 'DetectedFields', `detected_fields?query=${selector}`, {}, '"jsonPath"'],
    ['values of a field', 'DetectedValues', `detected_field/order/values?query=${selector}`, {}, '"values"'],
    ['patterns', 'Patterns', `patterns?query=${selector}`, {}, '"pattern":'],
    ['no patterns', 'Patterns', `patterns?query=${selector}&start=1&end=2`, {}, '"data":[]'],
  ])('%s', async (_, schema, path, headers, part) => {
    const answer = await store.client.send({ method: 'GET', path: `/loki/api/v1/${path}`, headers });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(part)]);
    expect(check(schema, answer.json())).toBeUndefined();
  });

  test('usage with refused entries matches its schema', async () => {
    const values = [[`${Date.now()}000000`, 'x'.repeat(300_000)]];
    const body = JSON.stringify({ streams: [{ stream: { app: 'forms' }, values }] });
    const headers = { 'content-type': 'application/json' };
    const push = await store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
    expect(push.status).toBe(400);
    const answer = await store.client.send({ method: 'GET', path: '/loki/api/v1/usage' });
    expect(answer.text).toContain('"line_too_long"');
    expect(check('Usage', answer.json())).toBeUndefined();
  });

  test('members as JSON match their schema', async () => {
    const headers = { accept: 'application/json' };
    const answer = await store.client.send({ method: 'GET', path: '/memberlist', headers });
    expect(answer.text).toContain('"registered_timestamp"');
    expect(check('Members', answer.json())).toBeUndefined();
  });

  test('a body with a member that no schema names is refused', () => {
    expect(check('IndexStats', { streams: 1, chunks: 1, bytes: 1, entries: 1, other: 1 })).toContain(
      'additional',
    );
    expect(check('IndexStats', { streams: 1, chunks: 1, bytes: 1 })).toContain('entries');
  });
});
