/**
 * Types of the route table, and its matcher. Each endpoint is listed once, under the neutral root. The names
 * that existing clients use are derived from it. In templates, `{name}` matches one segment, which is
 * percent-decoded only after matching, so that an encoded slash stays inside its parameter.
 */
import { invariant } from '../../base/model/errors.ts';
import type { Access } from './access.ts';
import type { ErrorStyle } from './errors.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { decodePercent } from './params.ts';

/** HEAD uses the GET handler of its route. Adapters omit the body. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';

/** Component that exposes the endpoint (docs/dev/operations.md#several-processes). */
export type Component =
  | 'all'
  | 'distributor'
  | 'querier'
  | 'query-frontend'
  | 'ingester'
  | 'index-gateway'
  | 'ruler'
  | 'compactor';

/** Cost class of a request: decides body limit, timeout, and memory and timeout of a deployed function. */
export type CostClass = 'light' | 'query' | 'push' | 'maintenance';

export interface RoutedRequest extends HttpRequest {
  /** Decoded values of the `{name}` segments of the template. */
  readonly pathParams: Readonly<Record<string, string>>;
}

export type Handler<Context> = (context: Context, request: RoutedRequest) => Promise<HttpResponse>;

export interface Route<Context> {
  readonly methods: readonly Method[];
  /** Path template, for example `/svc/api/v1/label/{name}/values`. */
  readonly path: string;
  /** Further paths in addition to those that follow from the root, for example a deprecated name. */
  readonly aliases?: readonly string[];
  readonly component: Component;
  readonly cost: CostClass;
  /** True for status endpoints. They count as light, so that they respond when the store is busy. */
  readonly isStatus?: boolean;
  /** Style of error responses. */
  readonly errors: ErrorStyle;
  /** Access rule if tokens are enabled. */
  readonly access: Access;
  readonly handler: Handler<Context>;
}

export type Match<Context> =
  | { readonly kind: 'route'; readonly route: Route<Context>; readonly pathParams: Record<string, string> }
  /** Path without doubled slashes or dot segments: 301. */
  | { readonly kind: 'moved'; readonly path: string }
  | { readonly kind: 'wrong-method'; readonly allow: readonly Method[] }
  | { readonly kind: 'missing' };

export interface Router<Context> {
  /** Throws BadRequestError for an invalid escape in the path. */
  match(method: string, path: string): Match<Context>;
  readonly routes: readonly Route<Context>[];
}

/** Neutral roots and the names that existing clients use (docs/dev/wire-format.md#paths). */
const ROOTS: readonly (readonly [string, string])[] = [
  ['/svc/api/v1', '/loki/api/v1'],
  ['/compat/api/v1', '/prometheus/api/v1'],
  ['/api/compat', '/api/prom'],
];

/** All paths of the route, its own first. */
export function pathsOf(route: Pick<Route<unknown>, 'path' | 'aliases'>): readonly string[] {
  return [route.path, ...(route.aliases ?? [])].flatMap(path => {
    const root = ROOTS.find(([neutral]) => path === neutral || path.startsWith(`${neutral}/`));
    return root === undefined ? [path] : [path, root[1] + path.slice(root[0].length)];
  });
}

/** Returns the table, with the types of its handlers checked. */
export function defineRoutes<Context>(routes: readonly Route<Context>[]): readonly Route<Context>[] {
  return routes;
}

interface PathRoutes<Context> {
  readonly segments: readonly string[];
  readonly byMethod: Map<string, Route<Context>>;
}

export function createRouter<Context>(routes: readonly Route<Context>[]): Router<Context> {
  const endpoints = new Map<string, PathRoutes<Context>>();
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      const endpoint = endpoints.get(path) ?? { segments: path.split('/'), byMethod: new Map() };
      endpoints.set(path, endpoint);
      for (const method of route.methods) {
        invariant(!endpoint.byMethod.has(method), `one route for ${method} ${path}`);
        endpoint.byMethod.set(method, route);
      }
    }
  }
  const templates = [...endpoints.values()].filter(endpoint => endpoint.segments.some(isParameter));

  function find(
    path: string,
  ): { endpoint: PathRoutes<Context>; pathParams: Record<string, string> } | undefined {
    const exact = endpoints.get(path);
    if (exact !== undefined && !path.includes('{')) return { endpoint: exact, pathParams: {} };
    const segments = path.split('/').map(decodePercent);
    // An escape may also hide a plain character of a fixed path.
    if (path.includes('%') && !segments.some(segment => /[/{]/.test(segment))) {
      const plain = endpoints.get(segments.join('/'));
      if (plain !== undefined) return { endpoint: plain, pathParams: {} };
    }
    for (const endpoint of templates) {
      const pathParams = matchSegments(endpoint.segments, segments);
      if (pathParams !== undefined) return { endpoint, pathParams };
    }
    return undefined;
  }

  return {
    routes,
    match(method, path) {
      const cleaned = cleanPath(path);
      if (cleaned !== path) return { kind: 'moved', path: cleaned };
      const found = find(path);
      if (found === undefined) return { kind: 'missing' };
      const route = found.endpoint.byMethod.get(method);
      if (route !== undefined) return { kind: 'route', route, pathParams: found.pathParams };
      return { kind: 'wrong-method', allow: [...found.endpoint.byMethod.keys()] as Method[] };
    },
  };
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}');
}

function matchSegments(
  template: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const pathParams: Record<string, string> = {};
  for (let i = 0; i < template.length; i++) {
    if (isParameter(template[i])) {
      if (segments[i] === '') return undefined;
      pathParams[template[i].slice(1, -1)] = segments[i];
    } else if (template[i] !== segments[i]) return undefined;
  }
  return pathParams;
}

/**
 * Removes empty, `.` and `..` segments, but keeps a slash at the end. Returns the same string if nothing
 * changes.
 */
export function cleanPath(path: string): string {
  if (!/\/(?:\/|\.\.?(?:\/|$))/.test(path)) return path;
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const slash = path.endsWith('/') && kept.length > 0 ? '/' : '';
  return `/${kept.join('/')}${slash}`;
}
