/**
 * The recorded requests and responses of the reference, and the ones that this version of the store must
 * answer: those of endpoints in its route table.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { pathsOf } from '../../shared/server/http/routes.ts';
import type { QueryParams } from '../end-to-end/support/client.ts';

interface RecordedPush {
  readonly tenant: string;
  readonly body: unknown;
}

export interface RecordedCase {
  readonly id: string;
  readonly category: string;
  /** `POST-FORM`: POST with `form` as the form, or with `query` if there is none. */
  readonly method: string;
  readonly path: string;
  readonly query: QueryParams | null;
  readonly form?: QueryParams | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly rawBody?: string | null;
  /** Null: no tenant header. */
  readonly tenant: string | null;
  readonly compare: 'data' | 'format' | 'invalid' | 'loose';
  /** Whether the order of series counts. */
  readonly ordered?: boolean | null;
  readonly status: number;
  /** JSON without `stats`, or text. */
  readonly body: unknown;
}

/** Endpoints that may not exist yet: recorded cases of a prefix count once it has a route. */
const LATER_ENDPOINTS = ['/loki/api/v1/detected_field', '/api/prom/query', '/api/prom/label'];

const SERVED_PATHS = ROUTES.flatMap(pathsOf);
const MISSING_ENDPOINTS = LATER_ENDPOINTS.filter(
  prefix => !SERVED_PATHS.some(path => path.startsWith(prefix)),
);

export function isServed({ path }: RecordedCase): boolean {
  return !MISSING_ENDPOINTS.some(prefix => path.startsWith(prefix));
}

export function loadPushes(): readonly RecordedPush[] {
  return load('pushes') as RecordedPush[];
}

export function loadCases(): readonly RecordedCase[] {
  return load('cases') as RecordedCase[];
}

/** The query's text, for messages. */
export function queryText({ query, form, path }: RecordedCase): string {
  const params = { ...query, ...form };
  return String(params.query ?? params['match[]'] ?? params.match ?? path);
}

function load(name: string): unknown {
  const file = new URL(`./recorded/${name}.json.gz`, import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString());
}
