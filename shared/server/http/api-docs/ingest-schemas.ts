/** Schemas of JSON responses of receivers. */
import { BOOLEAN, COUNT, list, map, object, type Schema, STRING } from './schema-parts.ts';

const FREE: Schema = { type: 'object', additionalProperties: true };

export const INGEST_SCHEMAS = {
  BulkResult: object({
    took: COUNT,
    errors: BOOLEAN,
    items: list(
      map(
        object(
          { status: COUNT },
          {
            _index: STRING,
            _id: STRING,
            _version: COUNT,
            result: STRING,
            error: object({ type: STRING, reason: STRING }),
          },
        ),
      ),
    ),
  }),
  FirehoseResult: object({ requestId: STRING, timestamp: COUNT }, { errorMessage: STRING }),
  ElasticVersion: object({
    name: STRING,
    cluster_name: STRING,
    cluster_uuid: STRING,
    version: FREE,
    tagline: STRING,
  }),
  ElasticLicense: object({ license: FREE }),
  ElasticHealth: object({
    cluster_name: STRING,
    status: STRING,
    timed_out: BOOLEAN,
    number_of_nodes: COUNT,
  }),
  /** Empty, or an acknowledgment. */
  ElasticSetup: object({}, { acknowledged: BOOLEAN }),
} as const satisfies Readonly<Record<string, Schema>>;
