/**
 * State of a group between evaluations: the state that people see, and pending effects. Samples are stored here before
 * they are sent, until they are accepted. A retry therefore sends the same values, even if the logs changed.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import type { AlertState, GroupState } from './rule-group.ts';

export type RuleLabels = Readonly<Record<string, string>>;

export interface RuleSample {
  readonly labels: RuleLabels;
  /** `stale` marks the end of the series. */
  readonly value: number | 'stale';
}

/** Samples of one instant that some targets have not accepted yet. */
export interface PendingSamples {
  /** Unix ns as text; targets receive ms. */
  readonly timeNs: string;
  /** Names of the targets. */
  readonly to: readonly string[];
  readonly samples: readonly RuleSample[];
}

export interface GroupRecord {
  readonly namespace: string;
  readonly name: string;
  readonly state: GroupState;
  /** Series of each rule's newest evaluation, by rule key. A series that disappears gets an end marker. */
  readonly series: Readonly<Record<string, readonly RuleLabels[]>>;
  /** Oldest first. */
  readonly pending: readonly PendingSamples[];
  /** Instants that were never evaluated since the group was created. */
  readonly missed: number;
  /** Samples that no target accepted, or that waited too long. */
  readonly droppedSamples: number;
}

const NOT_EVALUATED_GROUP: GroupState = { lastEvaluationNs: '0', evaluationSeconds: 0, rules: {} };

export function newGroupRecord(namespace: string, name: string): GroupRecord {
  return {
    namespace,
    name,
    state: NOT_EVALUATED_GROUP,
    series: {},
    pending: [],
    missed: 0,
    droppedSamples: 0,
  };
}

/** Represents NaN and infinities as text, because JSON does not have them. */
type WrittenNumber = number | string;

function written(value: number): WrittenNumber {
  return Number.isFinite(value) ? value : String(value);
}

export function encodeGroupRecord(record: GroupRecord): Buffer {
  const { state, pending } = record;
  const rules = Object.fromEntries(
    Object.entries(state.rules).map(([key, rule]) => [
      key,
      { ...rule, alerts: rule.alerts.map(alert => ({ ...alert, value: written(alert.value) })) },
    ]),
  );
  const waiting = pending.map(one => ({
    ...one,
    samples: one.samples.map(({ labels, value }) => [labels, value === 'stale' ? value : written(value)]),
  }));
  return Buffer.from(JSON.stringify({ ...record, state: { ...state, rules }, pending: waiting }));
}

/** Throws CorruptionError. */
export function decodeGroupRecord(body: Uint8Array): GroupRecord {
  try {
    const record = JSON.parse(Buffer.from(body).toString()) as Omit<GroupRecord, 'pending'> & {
      readonly pending: readonly (Omit<PendingSamples, 'samples'> & {
        readonly samples: readonly (readonly [RuleLabels, WrittenNumber])[];
      })[];
    };
    const { state, pending } = record;
    const rules = Object.fromEntries(
      Object.entries(state.rules).map(([key, rule]) => [
        key,
        {
          ...rule,
          alerts: rule.alerts.map((alert): AlertState => ({ ...alert, value: Number(alert.value) })),
        },
      ]),
    );
    return {
      ...record,
      state: { ...state, rules },
      pending: pending.map(one => ({
        ...one,
        samples: one.samples.map(([labels, value]) => ({
          labels,
          value: value === 'stale' ? value : Number(value),
        })),
      })),
    };
  } catch (error) {
    throw new CorruptionError(`state of a rule group: ${String(error)}`);
  }
}
