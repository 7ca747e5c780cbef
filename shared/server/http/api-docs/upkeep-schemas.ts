/** Schemas of JSON responses about rules, delete requests, tokens, maintenance and the state of the store. */
import {
  BOOLEAN,
  COUNT,
  LABELS,
  list,
  map,
  NULL,
  NULLABLE_TIME,
  NUMBER,
  object,
  oneOfTexts,
  RFC3339,
  ref,
  type Schema,
  STRING,
  STRINGS,
  success,
} from './schema-parts.ts';

const SECONDS: Schema = { type: 'number', description: 'Unix seconds' };
const SECONDS_OR_NULL: Schema = { type: ['number', 'null'], description: 'Unix seconds' };
const DURATION: Schema = { type: 'string', examples: ['1m0s'] };
const BOUNDED_COUNT = object({ count: COUNT, at_least: BOOLEAN });

/** Envelope of the rules API, which contains error fields even without an error. */
function ruleAnswer(data: Schema): Schema {
  return object({ status: { const: 'success' }, data, errorType: STRING, error: STRING });
}

const EVALUATION = {
  health: oneOfTexts('unknown', 'ok', 'err'),
  lastError: STRING,
  lastEvaluation: RFC3339,
  evaluationTime: NUMBER,
} as const;

const TOKEN = {
  id: STRING,
  name: STRING,
  scopes: STRINGS,
  tenants: STRINGS,
  state: oneOfTexts('active', 'expired', 'revoked'),
  created: RFC3339,
  expires: NULLABLE_TIME,
  revoked: NULLABLE_TIME,
  last_used: { type: ['string', 'null'], format: 'date' },
} as const;

export const UPKEEP_SCHEMAS = {
  RuleChange: ruleAnswer(NULL),
  Alert: object({
    labels: LABELS,
    annotations: LABELS,
    state: oneOfTexts('pending', 'firing'),
    activeAt: RFC3339,
    value: STRING,
  }),
  AlertingRule: object({
    state: oneOfTexts('unknown', 'inactive', 'pending', 'firing'),
    name: STRING,
    query: STRING,
    duration: NUMBER,
    keepFiringFor: NUMBER,
    labels: LABELS,
    annotations: LABELS,
    alerts: list(ref('Alert')),
    ...EVALUATION,
    type: { const: 'alerting' },
  }),
  RecordingRule: object({
    name: STRING,
    query: STRING,
    labels: LABELS,
    ...EVALUATION,
    type: { const: 'recording' },
  }),
  RuleStates: ruleAnswer(
    object({
      groups: list(
        object({
          name: STRING,
          file: STRING,
          rules: list({ oneOf: [ref('AlertingRule'), ref('RecordingRule')] }),
          interval: NUMBER,
          limit: COUNT,
          lastEvaluation: RFC3339,
          evaluationTime: NUMBER,
        }),
      ),
    }),
  ),
  Alerts: ruleAnswer(object({ alerts: list(ref('Alert')) })),
  DeleteRequests: list(
    object({
      request_id: STRING,
      start_time: SECONDS,
      end_time: SECONDS,
      query: STRING,
      status: STRING,
      created_at: SECONDS,
      user_id: STRING,
    }),
  ),
  DeleteProgress: list(
    object({
      request_id: STRING,
      status: STRING,
      parts: COUNT,
      parts_done: COUNT,
      bytes_done: COUNT,
      bytes_total: COUNT,
      created_at: SECONDS,
      picked_up_at: SECONDS_OR_NULL,
      sealed_at: SECONDS_OR_NULL,
      processed_at: SECONDS_OR_NULL,
    }),
  ),
  Token: success(object(TOKEN)),
  NewToken: success(object({ token: STRING, ...TOKEN })),
  Tokens: success(list(object(TOKEN))),
  Caller: success(
    object({
      tokens_enabled: BOOLEAN,
      auth_enabled: BOOLEAN,
      scopes: STRINGS,
      tenants: STRINGS,
      token: { oneOf: [NULL, object({ id: STRING, name: STRING, expires: NULLABLE_TIME })] },
    }),
  ),
  Ticket: success(object({ ticket: STRING, tenant: STRING, expires: RFC3339 })),
  IndexSync: list(
    object(
      { name: STRING, in_progress: BOOLEAN, last_trigger: STRING, last_duration: DURATION },
      { current_duration: DURATION },
    ),
  ),
  GenerationNumber: STRING,
  MaintenanceStatus: object({
    jobs: list(
      object({
        name: STRING,
        interval: DURATION,
        last_run: {
          oneOf: [
            NULL,
            object({
              started: RFC3339,
              ended: RFC3339,
              duration: DURATION,
              done: BOOLEAN,
              figures: map(NUMBER),
              failures: STRINGS,
            }),
          ],
        },
      }),
    ),
    backlog: object({
      outstanding_days: BOUNDED_COUNT,
      oldest_announcement: NULLABLE_TIME,
      garbage_lists: BOUNDED_COUNT,
    }),
  }),
  Members: object({
    shards: list(
      object({
        id: STRING,
        state: STRING,
        address: STRING,
        timestamp: STRING,
        registered_timestamp: STRING,
        read_only: BOOLEAN,
        read_only_updated_timestamp: STRING,
        zone: STRING,
        tokens: list(NUMBER),
      }),
    ),
    now: RFC3339,
  }),
  LogLevel: object({ message: STRING }, { status: { const: 'success' } }),
  BuildInfo: object({
    version: STRING,
    revision: STRING,
    branch: STRING,
    buildUser: STRING,
    buildDate: STRING,
    goVersion: STRING,
  }),
  OpenApi: {
    type: 'object',
    required: ['openapi', 'info', 'paths'],
    additionalProperties: true,
  },
} as const satisfies Readonly<Record<string, Schema>>;
