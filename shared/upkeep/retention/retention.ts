/**
 * How long each stream of a tenant is kept (docs/dev/wire-format.md#retention-rules): the rule with the highest priority that fits
 * the stream decides, of equal ones the first listed; else the tenant's period. An entry is expired when its time is
 * before now less the period. What a reader would get wrong: it says nothing of what is stored. Queries hide what is
 * expired at once, a job removes it later.
 */

import type { Labels } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import { compileMatchers } from '../../language/logql/matcher.ts';
import { parseSelector } from '../../language/logql/parse.ts';

export interface Retention {
  /** Every stream is kept for good. */
  readonly isOff: boolean;
  /** Of a stream with these labels, as stored; ns, 0 where it is kept for good. */
  periodNsOf(labels: Labels): bigint;
  /** No stream is kept longer; 0 where some may be kept for good. */
  readonly longestNs: bigint;
  /** No stream expires sooner; 0 where nothing expires. */
  readonly shortestNs: bigint;
  /** Every period that a stream may have, each once; 0 among them is for good. */
  readonly periodsNs: readonly bigint[];
  /** Equal where every stream has the same period. */
  readonly version: string;
  /** What it was made of: a worker makes the same. */
  readonly definition: RetentionLimits;
}

export type RetentionLimits = Pick<Limits, 'retentionPeriodNs' | 'retentionStream'>;

interface Rule {
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

const compiled = new WeakMap<RetentionLimits, Retention>();

/** @param enabled `compactor.retention_enabled`: without it nothing expires */
export function retentionOf(limits: RetentionLimits, enabled: boolean): Retention {
  if (!enabled) return KEPT_FOR_GOOD;
  let retention = compiled.get(limits);
  if (retention === undefined) {
    retention = compile(limits);
    compiled.set(limits, retention);
  }
  return retention;
}

/** Entries before this time are expired, Unix ns; undefined where none is. */
export function expiredBeforeNs(periodNs: bigint, nowNs: bigint): bigint | undefined {
  return periodNs > 0n ? nowNs - periodNs : undefined;
}

function compile({ retentionPeriodNs, retentionStream }: RetentionLimits): Retention {
  const periodsNs = [...new Set([retentionPeriodNs, ...retentionStream.map(({ periodNs }) => periodNs)])];
  const finite = periodsNs.filter(ns => ns > 0n).sort((a, b) => (a < b ? -1 : 1));
  if (finite.length === 0) return KEPT_FOR_GOOD;
  // The sort keeps the order of those of equal priority.
  const rules = [...retentionStream]
    .sort((a, b) => b.priority - a.priority)
    .map(({ selector, periodNs }): Rule => ({ accepts: acceptsOf(selector), periodNs }));
  // Label sets of streams are shared by all chunks that have been read, so an answer serves many.
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

/** The configuration was checked: a selector parses. */
function acceptsOf(selector: string): (labels: Labels) => boolean {
  return compileMatchers(parseSelector(selector));
}
