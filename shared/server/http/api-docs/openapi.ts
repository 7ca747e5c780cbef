/**
 * Generates an OpenAPI 3.1 document of the HTTP API from the route table and the descriptions of its
 * endpoints.
 */
import { LOGBOOM_VERSION } from '../../admin/build-info.ts';
import type { Access } from '../access.ts';
import { type Method, pathsOf, type Route } from '../routes.ts';
import { type EndpointDoc, JSON_BODY, type ParameterDoc, TAGS } from './endpoint-doc.ts';
import { docKey, ENDPOINT_DOCS } from './endpoint-docs.ts';
import { ref } from './schema-parts.ts';
import { SCHEMAS } from './schemas.ts';

export type DocumentedRoute = Pick<Route<unknown>, 'methods' | 'path' | 'aliases' | 'access'>;
type Json = Readonly<Record<string, unknown>>;

const TENANT = {
  name: 'X-Scope-OrgID',
  in: 'header',
  description: 'tenant ID; required if the store has several tenants and the credentials do not name one',
  schema: { type: 'string', maxLength: 150 },
};

/** @throws Error if a route has no description */
export function openApi(routes: readonly DocumentedRoute[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const doc = ENDPOINT_DOCS[docKey(route)];
    if (doc === undefined) throw new Error(`${docKey(route)} has no description in api-docs`);
    paths[route.path] ??= {};
    for (const method of route.methods)
      paths[route.path][method.toLowerCase()] = operation(route, method, doc);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Logboom',
      version: LOGBOOM_VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'The HTTP API of Logboom: the API of Loki, with additions. Each endpoint also has the path that clients of Loki use: `/loki` instead of `/svc`, `/prometheus` instead of `/compat`, and `/api/prom` instead of `/api/compat`. `x-other-paths` lists these paths.',
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      parameters: { tenant: TENANT },
      schemas: SCHEMAS,
      responses: {
        unauthorized: text('the tenant or a valid token is missing'),
        forbidden: text('the token does not have the scope, or is not for the tenant'),
        unavailable: text('the store is overloaded or starting, or its storage fails; retry later'),
      },
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'user: the tenant ID; password: an access token',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'an access token' },
      },
    },
  };
}

function operation(route: DocumentedRoute, method: Method, doc: EndpointDoc): Json {
  const others = pathsOf(route).filter(path => path !== route.path);
  const isOpen = route.access.kind === 'open';
  return {
    operationId: operationId(method, route.path),
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.about === undefined ? {} : { description: doc.about }),
    ...(others.length === 0 ? {} : { 'x-other-paths': others }),
    ...scopeOf(route.access),
    // If tokens are disabled, no credentials are needed.
    security: isOpen ? [] : [{}, { basic: [] }, { bearer: [] }],
    parameters: [
      ...pathParameters(route.path, doc),
      ...(doc.parameters ?? []).map(parameter),
      ...(needsTenant(route.access) ? [{ $ref: '#/components/parameters/tenant' }] : []),
    ],
    ...(doc.body === undefined || method === 'GET' || method === 'HEAD'
      ? {}
      : { requestBody: body(doc.body) }),
    responses: responses(doc, method, isOpen),
  };
}

function responses(doc: EndpointDoc, method: Method, isOpen: boolean): Json {
  const others = Object.entries(doc.others ?? {}).map(([code, about]) => [code, text(about)]);
  const isEmpty = doc.type === undefined || method === 'HEAD';
  return {
    [doc.status]: isEmpty
      ? { description: outcomeOf(doc) }
      : {
          description: outcomeOf(doc),
          content: {
            ...(doc.type === JSON_BODY ? {} : { [doc.type!]: { schema: { type: 'string' } } }),
            ...(doc.schema === undefined ? {} : { [JSON_BODY]: { schema: ref(doc.schema) } }),
          },
        },
    ...(isOpen
      ? {}
      : {
          401: { $ref: '#/components/responses/unauthorized' },
          403: { $ref: '#/components/responses/forbidden' },
          503: { $ref: '#/components/responses/unavailable' },
        }),
    ...Object.fromEntries(others),
  };
}

function outcomeOf({ status }: EndpointDoc): string {
  if (status === 101) return 'the WebSocket is opened';
  return status < 400 ? 'success' : 'the request is refused';
}

function text(description: string): Json {
  return { description, content: { 'text/plain': { schema: { type: 'string' } } } };
}

function body({ about, types }: NonNullable<EndpointDoc['body']>): Json {
  const content = Object.entries(types).map(([type, example]) => {
    if (example === undefined) return [type, { schema: { type: 'string', contentMediaType: type } }];
    const isJson = type === 'application/json';
    return [
      type,
      {
        schema: isJson ? { type: 'object' } : { type: 'string' },
        example: isJson ? JSON.parse(example) : example,
      },
    ];
  });
  return { description: about, required: true, content: Object.fromEntries(content) };
}

function parameter({
  name,
  about,
  type = 'string',
  in: location = 'query',
  required,
  repeated,
  example,
}: ParameterDoc): Json {
  const one = { type };
  return {
    name,
    in: location,
    description: about,
    ...(required ? { required } : {}),
    schema: repeated ? { type: 'array', items: one } : one,
    ...(example === undefined ? {} : { example: repeated ? [parsed(example, type)] : parsed(example, type) }),
  };
}

function parsed(example: string, type: string): unknown {
  return type === 'string' ? example : JSON.parse(example);
}

function pathParameters(path: string, doc: EndpointDoc): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(doc.path?.[name] === undefined ? {} : { example: doc.path[name] }),
  }));
}

function needsTenant(access: Access): boolean {
  return access.kind === 'scope' && access.over === 'tenant';
}

function scopeOf(access: Access): Json {
  if (access.kind !== 'scope') return {};
  return { 'x-scope': access.over === 'store' ? `${access.scope} for all tenants` : access.scope };
}

function operationId(method: Method, path: string): string {
  const words = path
    .replace(/^\/svc\/api\/v1/, '')
    .split(/[^a-zA-Z0-9]+/)
    .filter(word => word !== '');
  return [method.toLowerCase(), ...words.map(word => word[0].toUpperCase() + word.slice(1))].join('');
}
