/**
 * Retention period of each stream of a tenant (docs/dev/wire-format.md#retention-rules). The matching rule with the
 * highest priority decides, and the first listed of equal ones. Without a matching rule, the tenant's period
 * applies. An entry is expired if its time is before now minus the period.
 *
 * Pitfall: retention says nothing about what is stored. Queries hide expired entries immediately, and a job
 * removes them later.
 */

import type { Labels } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import { compileMatchers } from '../../language/logql/matcher.ts';
import { parseSelector } from '../../language/logql/parse.ts';

export interface Retention {
  /** True if no stream ever expires. */
  readonly isOff: boolean;
  /** Period of a stream with these stored labels, in ns; 0 if it never expires. */
  periodNsOf(labels: Labels): bigint;
  /** Longest period of any stream; 0 if some may never expire. */
  readonly longestNs: bigint;
  /** Shortest period of any stream; 0 if nothing expires. */
  readonly shortestNs: bigint;
  /** All possible periods of a stream, without duplicates; 0 means never. */
  readonly periodsNs: readonly bigint[];
  /** Equal if every stream has the same period. */
  readonly version: string;
  /** Limits that it was created from, so that a worker can create the same. */
  readonly definition: RetentionLimits;
}

export type RetentionLimits = Pick<Limits, 'retentionPeriodNs' | 'retentionStream'>;

interface RetentionRule {
  readonly accepts: (labels: Labels) => boolean;
  readonly periodNs: bigint;
}

export const KEPT_FOR_GOOD: Retention = Object.freeze({
  isOff: true,
  periodNsOf: () => 0n,
  longestNs: 0n,
  shortestNs: 0n,
  periodsNs: [0n],
  version: '',
  definition: Object.freeze({ retentionPeriodNs: 0n, retentionStream: [] }),
});

const COMPILED = new WeakMap<RetentionLimits, Retention>();

/** @param enabled `compactor.retention_enabled`; if false, nothing expires */
export function retentionOf(limits: RetentionLimits, enabled: boolean): Retention {
  if (!enabled) return KEPT_FOR_GOOD;
  let retention = COMPILED.get(limits);
  if (retention === undefined) {
    retention = compile(limits);
    COMPILED.set(limits, retention);
  }
  return retention;
}

/** Unix ns before which entries are expired; `undefined` if none is. */
export function expiredBeforeNs(periodNs: bigint, nowNs: bigint): bigint | undefined {
  return periodNs > 0n ? nowNs - periodNs : undefined;
}

function compile({ retentionPeriodNs, retentionStream }: RetentionLimits): Retention {
  const periodsNs = [...new Set([retentionPeriodNs, ...retentionStream.map(({ periodNs }) => periodNs)])];
  const finite = periodsNs.filter(ns => ns > 0n).sort((a, b) => (a < b ? -1 : 1));
  if (finite.length === 0) return KEPT_FOR_GOOD;
  // The sort is stable, so rules of equal priority keep their order.
  const rules = [...retentionStream]
    .sort((a, b) => b.priority - a.priority)
    .map(({ selector, periodNs }): RetentionRule => ({ accepts: acceptsOf(selector), periodNs }));
  // Chunks share the label sets of streams, so a cached result serves many.
  const known = new WeakMap<Labels, bigint>();
  return {
    isOff: false,
    periodNsOf: labels => {
      if (rules.length === 0) return retentionPeriodNs;
      let periodNs = known.get(labels);
      if (periodNs === undefined) {
        periodNs = rules.find(({ accepts }) => accepts(labels))?.periodNs ?? retentionPeriodNs;
        known.set(labels, periodNs);
      }
      return periodNs;
    },
    longestNs: periodsNs.includes(0n) ? 0n : finite[finite.length - 1],
    shortestNs: finite[0],
    periodsNs,
    definition: { retentionPeriodNs, retentionStream },
    version: [
      retentionPeriodNs,
      ...retentionStream.map(({ selector, priority, periodNs }) => `${priority} ${periodNs} ${selector}`),
    ].join('\n'),
  };
}

/** The configuration was checked, so the selector parses. */
function acceptsOf(selector: string): (labels: Labels) => boolean {
  return compileMatchers(parseSelector(selector));
}
