/** Schemas of the responses about saved queries and boards. */
import { list, NULL, object, RFC3339, type Schema, STRING, success } from './schema-parts.ts';

const HEAD = {
  id: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  name: STRING,
  about: { type: 'string', description: 'first characters of the description or the query' },
  version: { type: 'integer', minimum: 1, description: 'increases with each change' },
  updated: RFC3339,
} as const satisfies Readonly<Record<string, Schema>>;
const CONTENT: Schema = { description: 'the saved query or board in the format of the request body' };

export const SAVED_SCHEMAS = {
  SavedList: success(list(object(HEAD))),
  SavedHead: success(object(HEAD)),
  SavedItem: success(object({ ...HEAD, content: CONTENT })),
  SavedDeletion: success(NULL),
};
