/** Types of rules responses, separate from the requests, so that code without a browser can be tested. */
import type { Labels } from './types.ts';

export type RuleHealth = 'ok' | 'err' | 'unknown';
export type AlertStateName = 'firing' | 'pending' | 'inactive' | 'unknown';

export interface ActiveAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'firing' | 'pending';
  /** RFC 3339. */
  readonly activeAt: string;
  /** Number in Go's exponent format. */
  readonly value: string;
}

interface CommonRule {
  readonly name: string;
  readonly query: string;
  readonly labels: Labels;
  readonly health: RuleHealth;
  readonly lastError: string;
  readonly lastEvaluation: string;
  /** Duration of the last evaluation, s. */
  readonly evaluationTime: number;
}

export interface AlertingRule extends CommonRule {
  readonly type: 'alerting';
  readonly state: AlertStateName;
  /** Duration of the rule's `for`, s. */
  readonly duration: number;
  readonly keepFiringFor: number;
  readonly annotations: Labels;
  readonly alerts: readonly ActiveAlert[];
}

export interface RecordingRule extends CommonRule {
  readonly type: 'recording';
}

export type Rule = AlertingRule | RecordingRule;

export interface RuleGroup {
  readonly name: string;
  /** Namespace. */
  readonly file: string;
  readonly rules: readonly Rule[];
  /** Evaluation interval, s. */
  readonly interval: number;
  readonly lastEvaluation: string;
  readonly evaluationTime: number;
}
