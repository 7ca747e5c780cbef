/**
 * Limits of a tenant, with the reference's names in camel case, its defaults and the reason of each number where
 * it is ours. The configuration writes them in snake case under `limits_config` (docs/dev/wire-format.md#configuration).
 */
import { NS_PER_SECOND } from './duration.ts';

/** A time that a limit names. */
export interface LimitTime {
  /** Unix ns. */
  readonly ns: bigint;
  /** RFC 3339 with seconds, in the zone in which it was written, as messages show it. */
  readonly text: string;
}

/** Streams that a policy is for (docs/dev/wire-format.md#policies-and-blocks). */
export interface PolicySelector {
  /** A LogQL stream selector. */
  readonly selector: string;
  /** Of the policies that match a stream, the one with the highest number is its own. */
  readonly priority: number;
}

/** The name under which policy limits hold for streams of no policy, or for all (docs/dev/wire-format.md#policies-and-blocks). */
export const GLOBAL_POLICY = '*';

/** Queries that a tenant may not run (docs/dev/wire-format.md#limits-of-queries). The first entry that fits decides. */
export interface BlockedQuery {
  /** The text of the query, or with `regex` an expression that its text must match; empty fits every query. */
  readonly pattern: string;
  readonly regex: boolean;
  /** 32-bit FNV-1 hash of the text; 0 where not given. It goes before the pattern. */
  readonly hash: number;
  /** Blocked kinds: `metric`, `filter` (log queries with stages), `limited` (without); none means all. */
  readonly types: readonly string[];
  /** Tags of the header X-Query-Tags that must all be there with these values, in any letter case. */
  readonly queryTags: Readonly<Record<string, string>>;
}

export const INGESTION_RATE_STRATEGIES = ['global', 'local'] as const;
export type IngestionRateStrategy = (typeof INGESTION_RATE_STRATEGIES)[number];

/** What becomes of an attribute of OTLP (docs/dev/wire-format.md#resource-attributes). */
export const OTLP_ACTIONS = ['index_label', 'structured_metadata', 'drop'] as const;
export type OtlpAction = (typeof OTLP_ACTIONS)[number];

/** The attributes that an action is for: those of a list, or whose whole name matches an expression. */
export interface OtlpRule {
  readonly action: OtlpAction;
  readonly attributes: readonly string[];
  /** Undefined where `attributes` says which. */
  readonly regex: string | undefined;
}

/** Of the rules of a list the first that fits an attribute decides; what no rule fits is structured metadata. */
export interface OtlpConfig {
  readonly resourceAttributes: {
    /** False: the list begins with DEFAULT_OTLP_RULE, whatever the file says. */
    readonly ignoreDefaults: boolean;
    readonly attributesConfig: readonly OtlpRule[];
  };
  readonly scopeAttributes: readonly OtlpRule[];
  readonly logAttributes: readonly OtlpRule[];
  /** The text of the severity is an index label too. */
  readonly severityTextAsLabel: boolean;
}

export const DELETION_MODES = ['disabled', 'filter-only', 'filter-and-delete'] as const;
export type DeletionMode = (typeof DELETION_MODES)[number];

/** Streams that are kept for a time of their own (docs/dev/wire-format.md#retention-rules). */
export interface StreamRetention {
  /** A LogQL stream selector. */
  readonly selector: string;
  /** Of the rules that match a stream, the one with the highest number is its own; of equal ones the first. */
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
  /** The same by policy; GLOBAL_POLICY is for every stream. */
  readonly policyEnforcedLabels: ReadonlyMap<string, readonly string[]>;
  readonly policyStreamMapping: ReadonlyMap<string, readonly PolicySelector[]>;
  /** All pushes are refused until then. */
  readonly blockIngestionUntil: LimitTime | undefined;
  /** The same by policy; GLOBAL_POLICY is for streams of no policy. */
  readonly blockIngestionPolicyUntil: ReadonlyMap<string, LimitTime>;
  /** Of the answer to what is blocked; 200 drops it silently. */
  readonly blockIngestionStatusCode: number;
  /** Structured metadata to add: its name, and the fields to look for it in, the first that is there. */
  readonly discoverGenericFields: ReadonlyMap<string, readonly string[]>;
  /** No effect: entries may come in any order (differences, D14). */
  readonly unorderedWrites: boolean;
  /** No effect: nothing is gained here by cutting a stream. Kept as it is written, for `/config`. */
  readonly shardStreams: Readonly<Record<string, unknown>>;
  /** `global`: the tenant's rate is shared by all processes. `local`: each process grants it by itself. */
  readonly ingestionRateStrategy: IngestionRateStrategy;
  /** MiB/s of lines and metadata; may have a fraction. */
  readonly ingestionRateMb: number;
  /** MiB; may have a fraction. A push that is larger can never pass. */
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
  /** Tasks of one query at once, at most; 0 refuses all queries. */
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
  /** Of a query on one machine; bytes, 0 is off. */
  readonly maxQuerierBytesRead: number;
  readonly blockedQueries: readonly BlockedQuery[];
  readonly queryTimeoutNs: bigint;
  /** Share of a thread relative to other tenants; see FairScheduler. */
  readonly schedulingWeight: number;
  readonly volumeEnabled: boolean;
  readonly volumeMaxSeries: number;
  /** Live tails of a tenant; 0 is no limit. */
  readonly maxConcurrentTailRequests: number;

  // Deletion and retention (docs/dev/wire-format.md#delete-requests).
  readonly deletionMode: DeletionMode;
  /** How long entries are kept; 0 is for good. */
  readonly retentionPeriodNs: bigint;
  /** Streams with a period of their own. */
  readonly retentionStream: readonly StreamRetention[];
  /** Rules of one group; 0 is no limit. */
  readonly rulerMaxRulesPerRuleGroup: number;
  /** Groups of a tenant; 0 is no limit. */
  readonly rulerMaxRuleGroupsPerTenant: number;
  /** Series that rules make are discarded. */
  readonly rulerRemoteWriteDisabled: boolean;
}

const HOUR = 3600n * NS_PER_SECOND;
const MIB = 1024 ** 2;

/** The attributes that say where a log comes from: few, and with few values, as index labels should be. */
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
  rejectOldSamplesMaxAgeNs: 168n * HOUR,
  creationGracePeriodNs: 600n * NS_PER_SECOND,
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
  maxQueryLengthNs: 721n * HOUR,
  maxQueryLookbackNs: 0n,
  maxQueryRangeNs: 0n,
  maxStreamsMatchersPerQuery: 1000,
  requiredLabels: [],
  minimumLabelsNumber: 0,
  maxQueryBytesRead: 0,
  maxQuerierBytesRead: 150 * 1024 ** 3,
  blockedQueries: [],
  queryTimeoutNs: 60n * NS_PER_SECOND,
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
