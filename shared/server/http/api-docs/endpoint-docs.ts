/** Descriptions of all endpoints, by the key of their route. */
import type { Route } from '../routes.ts';
import type { EndpointDocs } from './endpoint-doc.ts';
import { INGEST_DOCS } from './ingest-docs.ts';
import { QUERY_DOCS } from './query-docs.ts';
import { UPKEEP_DOCS } from './upkeep-docs.ts';

export const ENDPOINT_DOCS: EndpointDocs = { ...INGEST_DOCS, ...QUERY_DOCS, ...UPKEEP_DOCS };

export function docKey({ methods, path }: Pick<Route<unknown>, 'methods' | 'path'>): string {
  return `${methods.join()} ${path}`;
}
