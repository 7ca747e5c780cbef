/** Answers about rules: apart from what asks for them, so that what needs no browser can be tested without one. */
import type { Labels } from './types.ts';

export type RuleHealth = 'ok' | 'err' | 'unknown';
export type AlertState = 'firing' | 'pending' | 'inactive' | 'unknown';

export interface ActiveAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'firing' | 'pending';
  /** RFC 3339. */
  readonly activeAt: string;
  /** A number as Go writes it with an exponent. */
  readonly value: string;
}

interface CommonRule {
  readonly name: string;
  readonly query: string;
  readonly labels: Labels;
  readonly health: RuleHealth;
  readonly lastError: string;
  readonly lastEvaluation: string;
  /** Seconds. */
  readonly evaluationTime: number;
}

export interface AlertingRule extends CommonRule {
  readonly type: 'alerting';
  readonly state: AlertState;
  /** Seconds; `for` of the rule. */
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
  /** The namespace. */
  readonly file: string;
  readonly rules: readonly Rule[];
  /** Seconds. */
  readonly interval: number;
  readonly lastEvaluation: string;
  readonly evaluationTime: number;
}
