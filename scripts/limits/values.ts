/** Constants that docs/reference/limits.md shows, from the modules that enforce them. */
import { MAX_LINE_BYTES } from '../../bin/cli/line-splitter.ts';
import { MAX_DRY_INSTANTS } from '../../bin/cli/rule-tests/dry-run.ts';
import { MAX_TEST_ENTRIES, MAX_TEST_INSTANTS } from '../../bin/cli/rule-tests/test-file.ts';
import { MAX_HEADER_BYTES } from '../../local/gateway.ts';
import { MAX_CONNECTIONS } from '../../local/gateway-connections.ts';
import { DEFAULT_MAX_BYTES } from '../../shared/base/model/memory-budget.ts';
import { MAX_TENANT_BYTES } from '../../shared/base/model/tenant-id.ts';
import { MAX_JSON_DEPTH } from '../../shared/base/text/json-scan.ts';
import { MAX_PATH_PARTS } from '../../shared/execution/pipeline/json-path.ts';
import * as template from '../../shared/execution/pipeline/template/bounds.ts';
import {
  MAX_PARSER_STACK,
  MAX_QUERY_BYTES,
  MAX_TREE_DEPTH,
} from '../../shared/language/logql/query-limits.ts';
import * as detected from '../../shared/read/insight/detected/bounds.ts';
import { MAX_REGION_ROWS } from '../../shared/read/query/overlaps.ts';
import * as memory from '../../shared/read/query/query-memory.ts';
import { MAX_FOUND } from '../../shared/read/query/stream-presence.ts';
import { MAX_TASK_STATE_BYTES } from '../../shared/read/query/tasks/task-runner.ts';
import * as tail from '../../shared/read/tail/bounds.ts';
import { MAX_RULES } from '../../shared/server/admin/config-otlp.ts';
import { MAX_LISTED_PROBLEMS, MAX_LISTED_UNKNOWN } from '../../shared/server/admin/config-reader.ts';
import { MAX_OVERRIDDEN_TENANTS, MAX_OVERRIDES_BYTES } from '../../shared/server/admin/overrides.ts';
import * as tokens from '../../shared/server/auth/token-service.ts';
import { MAX_ATTRIBUTES, MAX_ATTRIBUTES_BYTES } from '../../shared/server/http/handlers/firehose-limits.ts';
import { MAX_PARAMETERS } from '../../shared/server/http/params.ts';
import { MAX_POINTS } from '../../shared/server/http/query-params.ts';
import { MAX_TENANTS_PER_REQUEST } from '../../shared/server/http/tenant.ts';
import { MAX_ALERTS } from '../../shared/server/rules/alerting.ts';
import { MAX_PENDING_SAMPLES } from '../../shared/server/rules/evaluate.ts';
import { MAX_TEXT_LENGTH } from '../../shared/server/rules/template/run-template.ts';
import { MAX_COMMIT_MS } from '../../shared/storage/catalog/chunk-id.ts';
import * as deletes from '../../shared/storage/catalog/delete-requests.ts';
import { MAX_GROUP_BYTES } from '../../shared/storage/catalog/rule-group.ts';
import { MAX_RULE_GROUPS } from '../../shared/storage/catalog/rule-groups.ts';
import { MAX_TOKENS } from '../../shared/storage/catalog/tokens.ts';
import { MAX_OPEN_PAGES_BYTES, MAX_TIE_DIGESTS } from '../../shared/upkeep/compaction/merge-bounds.ts';
import { DISTANT_MAX_INPUTS, MAX_INPUTS } from '../../shared/upkeep/compaction/plan-merges.ts';
import { MAX_COUNTED_DAYS, MAX_COUNTED_LISTS } from '../../shared/upkeep/maintenance/status.ts';
import * as push from '../../shared/write/ingest/bounds.ts';
import { MAX_FRAMES, MAX_WINDOW_BYTES } from '../../shared/write/ingest/otlp/unpack.ts';
import { MAX_GROUP_DEPTH } from '../../shared/write/ingest/protobuf-reader.ts';
import { MAX_PUSH_BYTES, MAX_WAIT_MS } from '../../shared/write/ingest/push-budget.ts';
import * as receivers from '../../shared/write/ingest/receivers/bounds.ts';

export const LIMITS: Readonly<Record<string, number>> = {
  HEADER_BYTES: MAX_HEADER_BYTES,
  CONNECTIONS: MAX_CONNECTIONS,
  PARAMETERS: MAX_PARAMETERS,
  PUSH_MEMORY: MAX_PUSH_BYTES,
  PUSH_WAIT: MAX_WAIT_MS,
  TENANT_BYTES: MAX_TENANT_BYTES,
  TENANTS_OF_REQUEST: MAX_TENANTS_PER_REQUEST,
  ENTRIES: push.MAX_PUSH_ENTRIES,
  STREAMS: push.MAX_STREAMS,
  STREAM_PARTS: push.MAX_STREAM_PARTS,
  DAYS: push.MAX_DAYS,
  LABELS: push.MAX_LABELS,
  LABELS_OF_STREAM: push.MAX_LABELS_OF_STREAM,
  LABEL_CHARACTERS: push.MAX_LABEL_CHARACTERS,
  LABELS_TEXT: push.MAX_LABELS_TEXT_BYTES,
  LABELS_TEXT_LOKI: push.REFERENCE_LABELS_TEXT_BYTES,
  METADATA_PAIRS: push.MAX_METADATA_PAIRS,
  METADATA_NAMES: push.MAX_METADATA_NAMES,
  NAME_CHARACTERS: push.MAX_METADATA_NAME_CHARACTERS,
  NAME_BYTES: push.MAX_NAME_BYTES,
  FIELDS_OF_ENTRY: push.MAX_FIELDS_OF_ENTRY,
  DENSE_BYTES: push.MAX_DENSE_BYTES,
  MADE_BYTES: push.MAX_MADE_BYTES,
  SKIPPED_DEPTH: push.MAX_BODY_JSON_DEPTH,
  GROUP_DEPTH: MAX_GROUP_DEPTH,
  MESSAGES: push.MAX_MESSAGES,
  MESSAGE_CHARACTERS: push.MAX_MESSAGE_CHARACTERS,
  OTLP_DEPTH: push.MAX_OTLP_DEPTH,
  OTLP_VALUE_BYTES: push.MAX_OTLP_VALUE_BYTES,
  OTLP_VALUES: push.MAX_OTLP_VALUES,
  OTLP_METADATA_BYTES: push.MAX_OTLP_METADATA_BYTES,
  OTLP_RULES: MAX_RULES,
  ZSTD_FRAMES: MAX_FRAMES,
  ZSTD_WINDOW: MAX_WINDOW_BYTES,
  BULK_ITEMS: receivers.MAX_BULK_ITEMS,
  ACTION_BYTES: receivers.MAX_ACTION_BYTES,
  INDEX_NAME_BYTES: receivers.MAX_INDEX_NAME_BYTES,
  FLATTENED_DEPTH: receivers.MAX_FLATTENED_DEPTH,
  DOCUMENT_FIELDS: receivers.MAX_DOCUMENT_FIELDS,
  LISTED_FIELDS: receivers.MAX_LISTED_FIELDS,
  FIREHOSE_RECORDS: receivers.MAX_RECORDS,
  FIREHOSE_ATTRIBUTES: MAX_ATTRIBUTES,
  FIREHOSE_ATTRIBUTES_BYTES: MAX_ATTRIBUTES_BYTES,
  OBJECT_BYTES: receivers.MAX_OBJECT_BYTES,
  OBJECT_BATCH: receivers.OBJECT_BATCH_BYTES,
  OVERRIDES_BYTES: MAX_OVERRIDES_BYTES,
  OVERRIDDEN_TENANTS: MAX_OVERRIDDEN_TENANTS,
  SHOWN_UNKNOWN: MAX_LISTED_UNKNOWN,
  SHOWN_PROBLEMS: MAX_LISTED_PROBLEMS,
  POINTS: Number(MAX_POINTS),
  PARTIAL_RESULTS: DEFAULT_MAX_BYTES,
  QUERY_MEMORY: memory.MAX_QUERY_MEMORY_BYTES,
  TASK_STATE: MAX_TASK_STATE_BYTES,
  QUERIES_MEMORY: memory.DEFAULT_QUERY_MEMORY_BYTES,
  REGION_ROWS: MAX_REGION_ROWS,
  FOUND_STREAMS: MAX_FOUND,
  DETECTED_FIELDS: detected.MAX_DETECTED_FIELDS,
  DETECTED_VALUES: detected.MAX_DETECTED_VALUES,
  LINE_NAME_BYTES: detected.MAX_LINE_NAME_BYTES,
  TAIL_QUEUED: tail.MAX_QUEUED_ENTRIES,
  TAIL_QUEUED_BYTES: tail.MAX_QUEUED_BYTES,
  TAIL_FRAME: tail.MAX_FRAME_ENTRIES,
  TAIL_DROPPED: tail.MAX_DROPPED_ENTRIES,
  TAIL_DELAY_SECONDS: tail.MAX_DELAY_SECONDS,
  COMMIT_TIME: MAX_COMMIT_MS,
  MERGE_INPUTS: MAX_INPUTS,
  DISTANT_MERGE_INPUTS: DISTANT_MAX_INPUTS,
  MERGE_PAGES: MAX_OPEN_PAGES_BYTES,
  MERGE_EQUAL: MAX_TIE_DIGESTS,
  COUNTED_DAYS: MAX_COUNTED_DAYS,
  COUNTED_LISTS: MAX_COUNTED_LISTS,
  DELETES: deletes.MAX_UNPROCESSED_REQUESTS,
  DELETES_BYTES: deletes.MAX_UNPROCESSED_BYTES,
  DELETES_PROCESSED: deletes.MAX_PROCESSED_REQUESTS,
  RULE_GROUPS: MAX_RULE_GROUPS,
  RULE_GROUP_BYTES: MAX_GROUP_BYTES,
  RULE_RESULTS: MAX_ALERTS,
  RULE_TEXT: MAX_TEXT_LENGTH,
  RULE_SAMPLES: MAX_PENDING_SAMPLES,
  RULE_TEST_ENTRIES: MAX_TEST_ENTRIES,
  RULE_TEST_EVALUATIONS: MAX_TEST_INSTANTS,
  RULE_DRY_EVALUATIONS: Number(MAX_DRY_INSTANTS),
  TOKENS: MAX_TOKENS,
  TOKEN_TENANTS: tokens.MAX_TENANTS,
  TOKEN_NAME: tokens.MAX_TOKEN_NAME_CHARACTERS,
  QUERY_TEXT: MAX_QUERY_BYTES,
  PARSER_STACK: MAX_PARSER_STACK,
  TREE_DEPTH: MAX_TREE_DEPTH,
  PATH_PARTS: MAX_PATH_PARTS,
  JSON_DEPTH: MAX_JSON_DEPTH,
  TEMPLATE_NESTING: template.MAX_PARSE_DEPTH,
  TEMPLATE_DEPTH: template.MAX_RENDER_DEPTH,
  TEMPLATE_STEPS: template.MAX_RENDER_STEPS,
  TEMPLATE_OUTPUT: template.MAX_OUTPUT_LENGTH,
  TEMPLATE_DIGITS: template.MAX_DECIMAL_DIGITS,
  TEMPLATE_JSON: template.MAX_TEMPLATE_JSON_DEPTH,
  CLI_LINE: MAX_LINE_BYTES,
};
