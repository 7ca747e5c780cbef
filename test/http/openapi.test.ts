/** The API description is valid, complete, and generated from the route table. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { API_MARK, API_PAGE, apiReference } from '../../shared/server/http/api-docs/api-reference.ts';
import { docKey, ENDPOINT_DOCS } from '../../shared/server/http/api-docs/endpoint-docs.ts';
import { openApi } from '../../shared/server/http/api-docs/openapi.ts';
import { SCHEMAS } from '../../shared/server/http/api-docs/schemas.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { pathsOf } from '../../shared/server/http/routes.ts';

type Operation = Readonly<{
  operationId: string;
  'x-other-paths'?: string[];
  parameters: readonly Record<string, unknown>[];
  responses: Readonly<Record<string, unknown>>;
}>;
const document = openApi(ROUTES) as { paths: Record<string, Record<string, Operation>> };
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the description of the API', () => {
  test('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('rejects a document with an invalid parameter', async () => {
    const wrong = structuredClone(document);
    Object.assign(wrong.paths['/ready'].get.parameters, [{ name: 'a', in: 'nowhere' }]);
    expect((await new Validator().validate(wrong)).valid).toBe(false);
  });

  test('has each path and method of the route table, and no other', () => {
    const described = operations.flatMap(({ path, method, operation }) =>
      [path, ...(operation['x-other-paths'] ?? [])].map(each => `${method.toUpperCase()} ${each}`),
    );
    const routed = ROUTES.flatMap(route =>
      pathsOf(route).flatMap(path => route.methods.map(method => `${method} ${path}`)),
    );
    expect(described.sort()).toEqual(routed.sort());
    expect(Object.keys(ENDPOINT_DOCS).sort()).toEqual(ROUTES.map(docKey).sort());
  });

  test('gives each operation a unique ID, and each summary a verb and no period', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { summary } of Object.values(ENDPOINT_DOCS)) expect(summary).toMatch(/^[A-Z].*[^.]$/);
  });

  test('has a schema for each JSON response, and no unused schema', () => {
    const isJson = (type: string | undefined) => type === 'application/json';
    const missing = Object.entries(ENDPOINT_DOCS).filter(([, { type, schema }]) => isJson(type) && !schema);
    expect(missing.map(([route]) => route)).toEqual([]);
    const text = JSON.stringify(document);
    const unused = Object.keys(SCHEMAS).filter(name => !text.includes(`"#/components/schemas/${name}"`));
    expect(unused).toEqual([]);
  });

  test('refuses a route without a description', () => {
    const route = { ...ROUTES[0], path: '/svc/api/v1/new' };
    expect(() => openApi([route])).toThrow('POST /svc/api/v1/new has no description');
  });
});

test(`${API_PAGE} is up to date: after a change of routes, node scripts/make-http-reference.ts`, () => {
  const page = readFileSync(join(import.meta.dirname, '../..', API_PAGE), 'utf8');
  expect(page.split(API_MARK)[1]).toBe(apiReference(ROUTES));
});
