/**
 * Rule groups as the store keeps them and as rules are evaluated: durations in ns, expressions as text that was checked.
 * What YAML they come from and go to is `rule-yaml.ts`.
 */

/** Most bytes of a group as YAML, and of all names and texts in it: an item of the table holds 400 KB. */
export const MAX_GROUP_BYTES = 256 * 1024;

interface RuleBase {
  /** A metric query. */
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface RecordingRule extends RuleBase {
  readonly kind: 'recording';
  /** Name of the series. */
  readonly record: string;
}

export interface AlertingRule extends RuleBase {
  readonly kind: 'alerting';
  readonly alert: string;
  /** How long a result must be there before the alert fires, ns; 0 fires at once. */
  readonly forNs: bigint;
  /** How long it fires on when the result is gone, ns. */
  readonly keepFiringForNs: bigint;
  readonly annotations: Readonly<Record<string, string>>;
}

export type Rule = RecordingRule | AlertingRule;

export interface RuleGroup {
  readonly name: string;
  /** ns; 0 is the configured evaluation interval. */
  readonly intervalNs: bigint;
  /** Most alerts or series of one rule; 0 is no limit. */
  readonly limit: number;
  /** Evaluates as of that long ago, ns. */
  readonly queryOffsetNs: bigint;
  readonly rules: readonly Rule[];
}

/** A group where it lies: a namespace stands in for a file. */
export interface StoredGroup {
  readonly tenant: string;
  readonly namespace: string;
  readonly group: RuleGroup;
  /** Rises with each change of the group. */
  readonly version: number;
}

/** Where groups lie: the table, or a folder that is only read. */
export interface RuleStore {
  /** Of a tenant, by namespace and name. */
  list(tenant: string): Promise<readonly StoredGroup[]>;
  get(tenant: string, namespace: string, name: string): Promise<StoredGroup | undefined>;
  /** Tenants that have groups. */
  tenants(): Promise<readonly string[]>;
  /** Creates or replaces one group; others of the namespace stay whoever else writes. Throws ClientError beyond `maxGroups` (0: none). */
  set(tenant: string, namespace: string, group: RuleGroup, maxGroups: number): Promise<void>;
  /** False where there is no such group. */
  delete(tenant: string, namespace: string, name: string): Promise<boolean>;
  /** False where there is no such namespace. */
  deleteNamespace(tenant: string, namespace: string): Promise<boolean>;
}

export type RuleHealth = 'unknown' | 'ok' | 'err';

/** An alert that is pending or firing, or resolved and still to be told. */
export interface AlertState {
  /** Result labels, rule labels and alertname. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing' | 'resolved';
  readonly value: number;
  /** Unix ns as text: state is kept as JSON. 0 where it did not happen. */
  readonly activeAtNs: string;
  readonly firedAtNs: string;
  readonly resolvedAtNs: string;
  readonly keepFiringSinceNs: string;
  readonly lastSentNs: string;
}

/** What is known of a rule from its last evaluation. */
export interface RuleState {
  readonly health: RuleHealth;
  readonly lastError: string;
  /** Unix ns as text; "0" before the first. */
  readonly lastEvaluationNs: string;
  readonly evaluationSeconds: number;
  readonly alerts: readonly AlertState[];
}

/** State of a group: outlives processes. Rules are told by their place in the group and their text. */
export interface GroupState {
  /** The newest instant that was evaluated with all its effects, Unix ns as text. */
  readonly lastEvaluationNs: string;
  readonly evaluationSeconds: number;
  readonly rules: Readonly<Record<string, RuleState>>;
}

/** Key of a rule in GroupState.rules. */
export function ruleKey(rule: Rule, place: number): string {
  return rule.kind === 'recording' ? `${place}/record/${rule.record}` : `${place}/alert/${rule.alert}`;
}

/** Where group states are read; what the compat endpoints answer from. */
export interface GroupStates {
  read(tenant: string, namespace: string, name: string): Promise<GroupState | undefined>;
}
