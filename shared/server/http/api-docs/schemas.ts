/** Schemas of all JSON responses, by their names in the OpenAPI document. */
import { INGEST_SCHEMAS } from './ingest-schemas.ts';
import { QUERY_SCHEMAS } from './query-schemas.ts';
import { SAVED_SCHEMAS } from './saved-schemas.ts';
import { UPKEEP_SCHEMAS } from './upkeep-schemas.ts';

export const SCHEMAS = { ...INGEST_SCHEMAS, ...QUERY_SCHEMAS, ...SAVED_SCHEMAS, ...UPKEEP_SCHEMAS };
export type SchemaName = keyof typeof SCHEMAS;
