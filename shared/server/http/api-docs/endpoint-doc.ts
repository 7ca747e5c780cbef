/** Types for descriptions of endpoints. openapi.ts combines them with the route table. */
import type { SchemaName } from './schemas.ts';

export interface ParameterDoc {
  readonly name: string;
  readonly about: string;
  /** Default: string. */
  readonly type?: 'string' | 'integer' | 'boolean';
  /** Default: the query string. Path parameters follow from the route. */
  readonly in?: 'query' | 'header';
  readonly required?: boolean;
  /** True if it may occur several times. */
  readonly repeated?: boolean;
  /** Value that a client can send unchanged. */
  readonly example?: string;
}

interface BodyDoc {
  readonly about: string;
  /** Body per media type that a client can send unchanged; `undefined` for bytes. */
  readonly types: Readonly<Record<string, string | undefined>>;
}

export interface EndpointDoc {
  readonly tag: Tag;
  readonly summary: string;
  readonly about?: string;
  readonly parameters?: readonly ParameterDoc[];
  /** Examples of the parameters in the path, by name. */
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: BodyDoc;
  readonly status: number;
  /** Media type of the response; a response without one has no body. */
  readonly type?: string;
  /** Schema of the response, if it is JSON or available as JSON. */
  readonly schema?: SchemaName;
  /** Further statuses of this endpoint, with their reasons. */
  readonly others?: Readonly<Record<number, string>>;
}

export const TAGS = {
  ingest: 'Receivers: endpoints that accept logs',
  query: 'Queries, labels, series and statistics',
  rules: 'Rule groups and alerts',
  saved: 'Saved queries and boards of the explorer',
  delete: 'Delete requests',
  access: 'Access tokens',
  upkeep: 'Maintenance on request',
  status: 'State of the store and of the process that responds',
  legacy: 'Endpoints of older clients',
} as const;
export type Tag = keyof typeof TAGS;

export const JSON_BODY = 'application/json';
export const TEXT_BODY = 'text/plain';
export const YAML_BODY = 'application/yaml';
export const HTML_BODY = 'text/html';

/** Descriptions by `METHODS PATH`, with the methods in the order of the route. */
export type EndpointDocs = Readonly<Record<string, EndpointDoc>>;
