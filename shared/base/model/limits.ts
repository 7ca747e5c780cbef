/**
 * Limits of a tenant: the reference's names in camel case, its defaults, and the reason for each number that
 * is our own. The configuration uses snake case under `limits_config` (docs/dev/wire-format.md#configuration).
 */
import { NS_PER_HOUR, NS_PER_MINUTE } from './time-units.ts';

/** Point in time in a limit. */
export interface LimitTime {
  /** Unix ns. */
  readonly ns: bigint;
  /** RFC 3339 with seconds, in the time zone of the configuration, as error messages show it. */
  readonly text: string;
}

/** Streams to which a policy applies (docs/dev/wire-format.md#policies-and-blocks). */
export interface PolicySelector {
  /** LogQL stream selector. */
  readonly selector: string;
  /** Priority: if several policies match a stream, the highest number wins. */
  readonly priority: number;
}

/** Policy name for limits of streams without a policy, or of all streams (docs/dev/wire-format.md#policies-and-blocks). */
export const GLOBAL_POLICY = '*';

/** Queries that a tenant may not run (docs/dev/wire-format.md#limits-of-queries). The first matching entry decides. */
export interface BlockedQuery {
  /** Query text, or with `regex` an expression that the text must match. Empty matches every query. */
  readonly pattern: string;
  readonly regex: boolean;
  /** 32-bit FNV-1 hash of the query text, which takes precedence over the pattern; 0 if not set. */
  readonly hash: number;
  /**
   * Blocked kinds: `metric`, `filter` (log queries with stages), `limited` (without stages). Empty blocks all
   * kinds.
   */
  readonly types: readonly string[];
  /** Tags that the header X-Query-Tags must contain, all with these values, ignoring letter case. */
  readonly queryTags: Readonly<Record<string, string>>;
}

export const INGESTION_RATE_STRATEGIES = ['global', 'local'] as const;
type IngestionRateStrategy = (typeof INGESTION_RATE_STRATEGIES)[number];

/** Possible actions for an OTLP attribute (docs/dev/wire-format.md#resource-attributes). */
export const OTLP_ACTIONS = ['index_label', 'structured_metadata', 'drop'] as const;
export type OtlpAction = (typeof OTLP_ACTIONS)[number];

/**
 * Attributes to which an action applies: a list of names, or an expression that must match the whole name.
 */
export interface OtlpRule {
  readonly action: OtlpAction;
  readonly attributes: readonly string[];
  /** Undefined if `attributes` lists the names. */
  readonly regex: string | undefined;
}

/**
 * Rules for OTLP attributes. The first matching rule of a list decides; other attributes become structured
 * metadata.
 */
export interface OtlpConfig {
  readonly resourceAttributes: {
    /** False: DEFAULT_OTLP_RULE precedes the configured rules. */
    readonly ignoreDefaults: boolean;
    readonly attributesConfig: readonly OtlpRule[];
  };
  readonly scopeAttributes: readonly OtlpRule[];
  readonly logAttributes: readonly OtlpRule[];
  /** Whether the severity text also becomes an index label. */
  readonly severityTextAsLabel: boolean;
}

export const DELETION_MODES = ['disabled', 'filter-only', 'filter-and-delete'] as const;
export type DeletionMode = (typeof DELETION_MODES)[number];

/** Retention period for some streams of a tenant (docs/dev/wire-format.md#retention-rules). */
export interface StreamRetention {
  /** LogQL stream selector. */
  readonly selector: string;
  /**
   * Priority: if several rules match a stream, the highest number wins; among equal numbers, the first rule.
   */
  readonly priority: number;
  readonly periodNs: bigint;
}

export interface Limits {
  // Ingest (docs/dev/wire-format.md#push).
  readonly maxLabelNameLength: number;
  readonly maxLabelValueLength: number;
  readonly maxLabelNamesPerSeries: number;
  readonly rejectOldSamples: boolean;
  readonly rejectOldSamplesMaxAgeNs: bigint;
  readonly creationGracePeriodNs: bigint;
  /** Bytes; 0 is off. */
  readonly maxLineSize: number;
  readonly maxLineSizeTruncate: boolean;
  readonly maxLineSizeTruncateIdentifier: string;
  readonly incrementDuplicateTimestamp: boolean;
  readonly discoverServiceName: readonly string[];
  readonly discoverLogLevels: boolean;
  readonly logLevelFields: readonly string[];
  readonly logLevelFromJsonMaxDepth: number;
  readonly allowStructuredMetadata: boolean;
  /** Bytes; 0 is off. */
  readonly maxStructuredMetadataSize: number;
  /** 0 is off. */
  readonly maxStructuredMetadataEntriesCount: number;
  readonly otlpConfig: OtlpConfig;
  /** Labels that every stream must have. */
  readonly enforcedLabels: readonly string[];
  /** Enforced labels by policy; GLOBAL_POLICY applies to every stream. */
  readonly policyEnforcedLabels: ReadonlyMap<string, readonly string[]>;
  readonly policyStreamMapping: ReadonlyMap<string, readonly PolicySelector[]>;
  /** Time until which all pushes are refused. */
  readonly blockIngestionUntil: LimitTime | undefined;
  /** End of the refusal by policy; GLOBAL_POLICY applies to streams without a policy. */
  readonly blockIngestionPolicyUntil: ReadonlyMap<string, LimitTime>;
  /** HTTP status for blocked pushes; 200 drops them silently. */
  readonly blockIngestionStatusCode: number;
  /** Structured metadata to add: its name, and the fields to read it from. The first existing field wins. */
  readonly discoverGenericFields: ReadonlyMap<string, readonly string[]>;
  /** No effect: entries are accepted in any order (docs/reference/differences.md#ingest-and-maintenance). */
  readonly unorderedWrites: boolean;
  /** No effect: Logboom gains nothing from splitting a stream. Stored as configured, for `/config`. */
  readonly shardStreams: Readonly<Record<string, unknown>>;
  /** `global`: all processes share the tenant's rate. `local`: each process applies the full rate. */
  readonly ingestionRateStrategy: IngestionRateStrategy;
  /** MiB/s of lines and metadata; may have a fraction. */
  readonly ingestionRateMb: number;
  /** MiB; may have a fraction. A larger push is always refused. */
  readonly ingestionBurstSizeMb: number;
  /** Active streams of a tenant in one process; 0 is off. */
  readonly maxStreamsPerUser: number;
  /** Active streams of a tenant in all processes; 0 is off. */
  readonly maxGlobalStreamsPerUser: number;
  /** Bytes per second. */
  readonly perStreamRateLimit: number;
  /** Bytes. */
  readonly perStreamRateLimitBurst: number;

  // Query (docs/dev/wire-format.md#limits-of-queries).
  readonly maxEntriesLimitPerQuery: number;
  readonly maxQuerySeries: number;
  /** Maximum number of concurrent tasks of one query; 0 refuses all queries. */
  readonly maxQueryParallelism: number;
  /** 0 is off. */
  readonly maxQueryLengthNs: bigint;
  /** 0 is off. */
  readonly maxQueryLookbackNs: bigint;
  /** 0 is off. */
  readonly maxQueryRangeNs: bigint;
  readonly maxStreamsMatchersPerQuery: number;
  readonly requiredLabels: readonly string[];
  readonly minimumLabelsNumber: number;
  /** Bytes; 0 is off. */
  readonly maxQueryBytesRead: number;
  /** Limit for one machine of a query; bytes, 0 is off. */
  readonly maxQuerierBytesRead: number;
  readonly blockedQueries: readonly BlockedQuery[];
  readonly queryTimeoutNs: bigint;
  /** Share of a thread relative to other tenants; see FairScheduler. */
  readonly schedulingWeight: number;
  readonly volumeEnabled: boolean;
  readonly volumeMaxSeries: number;
  /** Maximum live tails of a tenant; 0 is off. */
  readonly maxConcurrentTailRequests: number;

  // Deletion and retention (docs/dev/wire-format.md#delete-requests).
  readonly deletionMode: DeletionMode;
  /** Retention period; 0 keeps entries forever. */
  readonly retentionPeriodNs: bigint;
  /** Streams with their own retention period. */
  readonly retentionStream: readonly StreamRetention[];
  /** Maximum rules per group; 0 is off. */
  readonly rulerMaxRulesPerRuleGroup: number;
  /** Maximum groups of a tenant; 0 is off. */
  readonly rulerMaxRuleGroupsPerTenant: number;
  /** Whether the results of recording rules are discarded. */
  readonly rulerRemoteWriteDisabled: boolean;
}

const MIB = 1024 ** 2;

/**
 * Attributes that identify the origin of a log. They are few and have few values, as index labels should.
 */
export const DEFAULT_OTLP_RULE: OtlpRule = Object.freeze({
  action: 'index_label',
  attributes: [
    'service.name',
    'service.namespace',
    'service.instance.id',
    'deployment.environment',
    'deployment.environment.name',
    'cloud.region',
    'cloud.availability_zone',
    'k8s.cluster.name',
    'k8s.namespace.name',
    'k8s.pod.name',
    'k8s.container.name',
    'container.name',
    'k8s.replicaset.name',
    'k8s.deployment.name',
    'k8s.statefulset.name',
    'k8s.daemonset.name',
    'k8s.cronjob.name',
    'k8s.job.name',
  ],
  regex: undefined,
});

export const DEFAULT_LIMITS: Limits = Object.freeze({
  maxLabelNameLength: 1024,
  maxLabelValueLength: 2048,
  maxLabelNamesPerSeries: 15,
  rejectOldSamples: true,
  rejectOldSamplesMaxAgeNs: 168n * NS_PER_HOUR,
  creationGracePeriodNs: 10n * NS_PER_MINUTE,
  maxLineSize: 262_144,
  maxLineSizeTruncate: false,
  maxLineSizeTruncateIdentifier: '',
  incrementDuplicateTimestamp: false,
  discoverServiceName: [
    'service',
    'app',
    'application',
    'app_name',
    'name',
    'app_kubernetes_io_name',
    'container',
    'container_name',
    'k8s_container_name',
    'component',
    'workload',
    'job',
    'k8s_job_name',
  ],
  discoverLogLevels: true,
  logLevelFields: [
    'level',
    'LEVEL',
    'Level',
    'log.level',
    'severity',
    'SEVERITY',
    'Severity',
    'SeverityText',
    'lvl',
    'LVL',
    'Lvl',
    'severity_text',
    'Severity_Text',
    'SEVERITY_TEXT',
  ],
  logLevelFromJsonMaxDepth: 2,
  allowStructuredMetadata: true,
  maxStructuredMetadataSize: 65_536,
  maxStructuredMetadataEntriesCount: 128,
  otlpConfig: {
    resourceAttributes: { ignoreDefaults: false, attributesConfig: [DEFAULT_OTLP_RULE] },
    scopeAttributes: [],
    logAttributes: [],
    severityTextAsLabel: false,
  },
  enforcedLabels: [],
  policyEnforcedLabels: new Map(),
  policyStreamMapping: new Map(),
  blockIngestionUntil: undefined,
  blockIngestionPolicyUntil: new Map(),
  blockIngestionStatusCode: 260,
  discoverGenericFields: new Map(),
  unorderedWrites: true,
  shardStreams: { enabled: true, desired_rate: '1536KB', time_sharding_enabled: false },
  ingestionRateStrategy: 'global',
  ingestionRateMb: 4,
  ingestionBurstSizeMb: 6,
  maxStreamsPerUser: 0,
  maxGlobalStreamsPerUser: 5000,
  perStreamRateLimit: 3 * MIB,
  perStreamRateLimitBurst: 15 * MIB,
  maxEntriesLimitPerQuery: 5000,
  maxQuerySeries: 500,
  maxQueryParallelism: 200,
  maxQueryLengthNs: 721n * NS_PER_HOUR,
  maxQueryLookbackNs: 0n,
  maxQueryRangeNs: 0n,
  maxStreamsMatchersPerQuery: 1000,
  requiredLabels: [],
  minimumLabelsNumber: 0,
  maxQueryBytesRead: 0,
  maxQuerierBytesRead: 150 * 1024 ** 3,
  blockedQueries: [],
  queryTimeoutNs: NS_PER_MINUTE,
  schedulingWeight: 1,
  volumeEnabled: true,
  volumeMaxSeries: 1000,
  maxConcurrentTailRequests: 10,
  deletionMode: 'filter-and-delete',
  retentionPeriodNs: 0n,
  retentionStream: [],
  rulerMaxRulesPerRuleGroup: 0,
  rulerMaxRuleGroupsPerTenant: 0,
  rulerRemoteWriteDisabled: false,
});
