/**
 * Selects which fields of a document are its time, its line and its labels. A request sets them with the
 * parameters of VictoriaLogs (`_time_field`, `_msg_field`, `_stream_fields`, `ignore_fields`,
 * `extra_fields`). Parameters that it omits have the defaults of the receiver.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Label } from '../../../base/model/labels.ts';
import { sanitizeMetadataName } from '../metadata-name.ts';
import { MAX_LISTED_FIELDS } from './bounds.ts';

/** Options name fields by their path, `kubernetes.pod.name`, however the document nests them. */
export interface FieldOptions {
  /**
   * The first field that holds a time is used. If the first one in the list is present, it must hold a time.
   */
  readonly timeFields: readonly string[];
  /** The first field that holds text is used. Without one the whole document is the line. */
  readonly messageFields: readonly string[];
  /** Label name by field. */
  readonly labelOfField: ReadonlyMap<string, string>;
  /** Fields that are neither stored as metadata nor counted. A `*` at the end matches any suffix. */
  readonly ignoreFields: readonly string[];
  /** Pairs added to every entry, as labels if `_stream_fields` names them, otherwise as metadata. */
  readonly extraMetadata: readonly Label[];
  readonly extraLabels: readonly Label[];
}

const MESSAGE_FIELDS = ['_msg', 'message', 'msg', 'log'];

/**
 * Default stream labels: the resource attributes that become labels with OTLP, and the level, which has few
 * values. Names are spelled as in Elastic's schema, OpenTelemetry and Fluent Bit.
 */
const LABEL_FIELDS: readonly (readonly [field: string, label: string])[] = [
  ['service.name', 'service_name'],
  ['service_name', 'service_name'],
  ['service.namespace', 'service_namespace'],
  ['deployment.environment', 'deployment_environment'],
  ['deployment.environment.name', 'deployment_environment_name'],
  ['service.environment', 'deployment_environment'],
  ['cloud.region', 'cloud_region'],
  ['host.name', 'host_name'],
  ['container.name', 'container_name'],
  ['k8s.cluster.name', 'k8s_cluster_name'],
  ['k8s.namespace.name', 'k8s_namespace_name'],
  ['k8s.pod.name', 'k8s_pod_name'],
  ['k8s.container.name', 'k8s_container_name'],
  ['kubernetes.namespace', 'k8s_namespace_name'],
  ['kubernetes.namespace_name', 'k8s_namespace_name'],
  ['kubernetes.pod_namespace', 'k8s_namespace_name'],
  ['kubernetes.pod.name', 'k8s_pod_name'],
  ['kubernetes.pod_name', 'k8s_pod_name'],
  ['kubernetes.container.name', 'k8s_container_name'],
  ['kubernetes.container_name', 'k8s_container_name'],
  ['log.level', 'level'],
  ['level', 'level'],
];

export const DEFAULT_FIELDS: FieldOptions = Object.freeze({
  timeFields: ['_time', '@timestamp', 'timestamp', 'time', 'ts'],
  messageFields: MESSAGE_FIELDS,
  labelOfField: new Map(LABEL_FIELDS),
  ignoreFields: [],
  extraMetadata: [],
  extraLabels: [],
});

/**
 * Returns the options that the parameters of a request set, with defaults for the others. Throws
 * BadRequestError.
 */
export function fieldOptions(param: (name: string) => string, defaults: FieldOptions): FieldOptions {
  const list = (name: string): readonly string[] => listOf(name, param(name));
  const timeFields = list('_time_field');
  const messageFields = list('_msg_field');
  const streamFields = list('_stream_fields');
  const extra = list('extra_fields').map(pair => {
    const equals = pair.indexOf('=');
    if (equals < 1) throw new BadRequestError(`extra_fields must be name=value, got '${pair.slice(0, 100)}'`);
    return { name: sanitizeMetadataName(pair.slice(0, equals)), value: pair.slice(equals + 1) };
  });
  const labelOfField =
    streamFields.length === 0
      ? defaults.labelOfField
      : new Map(streamFields.map(field => [field, sanitizeMetadataName(field)]));
  const labels = new Set(streamFields.map(field => sanitizeMetadataName(field)));
  return {
    timeFields: timeFields.length === 0 ? defaults.timeFields : timeFields,
    messageFields: messageFields.length === 0 ? defaults.messageFields : messageFields,
    labelOfField,
    ignoreFields: [...defaults.ignoreFields, ...list('ignore_fields')],
    extraMetadata: extra.filter(({ name }) => !labels.has(name)),
    extraLabels: extra.filter(({ name }) => labels.has(name)),
  };
}

function listOf(name: string, value: string): readonly string[] {
  if (value === '') return [];
  const names = value
    .split(',', MAX_LISTED_FIELDS + 1)
    .map(part => part.trim())
    .filter(part => part !== '');
  if (names.length > MAX_LISTED_FIELDS) {
    throw new BadRequestError(`${name} names more than ${MAX_LISTED_FIELDS} fields`);
  }
  return names;
}
