/** Sends the examples of the description of the API, as the store serves it, and compares the status with the described ones. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** It would end the process that the tests run in. */
const NOT_SENT = new Set(['/ingester/shutdown']);
/** What a store without tokens, a request without an upgrade, and an unknown ID are answered. */
const REFUSED_HERE: Readonly<Record<string, number>> = {
  'post /svc/api/v1/tokens': 403,
  'get /svc/api/v1/tokens': 403,
  'delete /svc/api/v1/tokens/{id}': 403,
  'post /svc/api/v1/auth/ticket': 400,
  'get /svc/api/v1/tail': 400,
  'delete /svc/api/v1/delete': 404,
};

let store: TestStore;
let document: Document;
beforeAll(async () => {
  store = await startStore(
    'auth_enabled: false\npattern_ingester: {enabled: true}\nlimits_config: {reject_old_samples: false}',
  );
  const answer = await store.client.send({ method: 'GET', path: '/loki/api/v1/openapi.json' });
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=UTF-8']);
  document = answer.json() as Document;
});
afterAll(() => store.stop());

function requestOf(path: string, method: string, { parameters, requestBody }: Operation) {
  const [search, headers] = [new URLSearchParams(), {} as Record<string, string>];
  let filled = path;
  for (const { $ref, name, in: place, example, required } of parameters) {
    if ($ref !== undefined || (example === undefined && !required)) continue;
    const values = (Array.isArray(example) ? example : [example]).map(String);
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(values[0]));
    else if (place === 'header') headers[name.toLowerCase()] = values[0];
    else for (const value of values) search.append(name, value);
  }
  const [type, { example }] = Object.entries(requestBody?.content ?? {})[0] ?? ['', {}];
  if (type !== '') headers['content-type'] = type;
  const body =
    example === undefined ? undefined : typeof example === 'string' ? example : JSON.stringify(example);
  return { method: method.toUpperCase(), path: `${filled}?${search}`, headers, body };
}

test('each operation answers its example with a described status', async () => {
  const wrong: string[] = [];
  // Entries and groups first: what follows asks about them. What deletes them comes last.
  const order = ['post', 'put', 'get', 'head', 'delete'];
  const operations = Object.entries(document.paths)
    .filter(([path]) => !NOT_SENT.has(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .sort((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
  expect(operations.length).toBeGreaterThan(90);
  for (const { path, method, operation } of operations) {
    const [described] = Object.entries(operation.responses).find(([code]) => /^[123]/.test(code)) ?? [
      path.startsWith('/otlp') ? '400' : '405',
    ];
    const refused = REFUSED_HERE[`${method} ${path}`];
    const wanted = refused ?? Number(described);
    const answer = await store.client.send(requestOf(path, method, operation));
    const isDescribed = Object.hasOwn(operation.responses, String(answer.status));
    const type = answer.headers['content-type']?.split(';', 1)[0];
    const types = Object.keys(operation.responses[described]?.content ?? {});
    const isTyped =
      refused !== undefined || method === 'head' || types.length === 0 || types.includes(type ?? '');
    if (answer.status !== wanted || !isDescribed || !isTyped) {
      wrong.push(`${method} ${path}: ${answer.status}, not ${wanted}; ${type}: ${answer.text.slice(0, 150)}`);
    }
  }
  expect(wrong).toEqual([]);
});
