/**
 * Limits of a tenant, with the reference's names in camel case, its defaults and the reason of each number where
 * it is ours. The configuration writes them in snake case under `limits_config` (wire-format reference, 10).
 */
import { NS_PER_SECOND } from './duration.ts';

/** Queries that a tenant may not run (wire-format reference, 3.11). The first entry that fits decides. */
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

export interface Limits {
  // Ingest (wire-format 1.7 to 1.13).
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

  // Query (wire-format 3.11).
  readonly maxEntriesLimitPerQuery: number;
  readonly maxQuerySeries: number;
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
  readonly volumeEnabled: boolean;
  readonly volumeMaxSeries: number;
}

const HOUR = 3600n * NS_PER_SECOND;

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
  maxEntriesLimitPerQuery: 5000,
  maxQuerySeries: 500,
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
  volumeEnabled: true,
  volumeMaxSeries: 1000,
});
