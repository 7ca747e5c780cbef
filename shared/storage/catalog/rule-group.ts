/**
 * Rule groups as the store keeps them and as rules are evaluated: durations in ns, expressions as validated text.
 * `rule-yaml.ts` converts them from and to YAML.
 */

/** Maximum bytes of a group as YAML, and of all names and texts in it. An item of the table holds 400 KB. */
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
  /** Time for which a result must exist before the alert fires, ns; 0 fires immediately. */
  readonly forNs: bigint;
  /** Time for which the alert keeps firing after the result disappears, ns. */
  readonly keepFiringForNs: bigint;
  readonly annotations: Readonly<Record<string, string>>;
}

export type Rule = RecordingRule | AlertingRule;

export interface RuleGroup {
  readonly name: string;
  /** Evaluation interval, ns; 0 is the configured default. */
  readonly intervalNs: bigint;
  /** Maximum number of alerts or series of one rule; 0 is unlimited. */
  readonly limit: number;
  /** Offset into the past of the evaluated time, ns. */
  readonly queryOffsetNs: bigint;
  readonly rules: readonly Rule[];
}

/** A group with its location: a namespace corresponds to a file. */
export interface StoredGroup {
  readonly tenant: string;
  readonly namespace: string;
  readonly group: RuleGroup;
  /** Rises with each change of the group. */
  readonly version: number;
}

/** Storage of groups: the table, or a read-only folder. */
export interface RuleStore {
  /** Groups of a tenant, by namespace and name. */
  list(tenant: string): Promise<readonly StoredGroup[]>;
  get(tenant: string, namespace: string, name: string): Promise<StoredGroup | undefined>;
  /** Tenants that have groups. */
  tenants(): Promise<readonly string[]>;
  /**
   * Creates or replaces one group. Concurrent writes of other groups are kept. Throws ClientError above `maxGroups` (0:
   * unlimited).
   */
  set(tenant: string, namespace: string, group: RuleGroup, maxGroups: number): Promise<void>;
  /** False if the group does not exist. */
  delete(tenant: string, namespace: string, name: string): Promise<boolean>;
  /** False if the namespace does not exist. */
  deleteNamespace(tenant: string, namespace: string): Promise<boolean>;
}

type RuleHealth = 'unknown' | 'ok' | 'err';

/** An alert that is pending or firing, or resolved with a notification still to be sent. */
export interface AlertState {
  /** Result labels, rule labels and alertname. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing' | 'resolved';
  readonly value: number;
  /** Unix ns as text, because the state is stored as JSON. 0 if it did not happen. */
  readonly activeAtNs: string;
  readonly firedAtNs: string;
  readonly resolvedAtNs: string;
  readonly keepFiringSinceNs: string;
  readonly lastSentNs: string;
}

/** Results of a rule's last evaluation. */
export interface RuleState {
  readonly health: RuleHealth;
  readonly lastError: string;
  /** Unix ns as text; "0" before the first evaluation. */
  readonly lastEvaluationNs: string;
  readonly evaluationSeconds: number;
  readonly alerts: readonly AlertState[];
}

/** State of a group, which outlives processes. A rule is identified by its position in the group and its text. */
export interface GroupState {
  /** The newest instant that was evaluated with all its effects, Unix ns as text. */
  readonly lastEvaluationNs: string;
  readonly evaluationSeconds: number;
  readonly rules: Readonly<Record<string, RuleState>>;
}

/** Key of a rule in GroupState.rules. */
export function ruleKey(rule: Rule, index: number): string {
  return rule.kind === 'recording' ? `${index}/record/${rule.record}` : `${index}/alert/${rule.alert}`;
}

/** Reads group states. The compat endpoints use it. */
export interface GroupStates {
  read(tenant: string, namespace: string, name: string): Promise<GroupState | undefined>;
}
