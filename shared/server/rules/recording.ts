/** Evaluates one instant of a recording rule: the samples of its series. */
import type { RecordingRule } from '../../storage/catalog/rule-group.ts';
import type { RuleSample } from '../../storage/catalog/rule-state.ts';
import type { ResultSample } from './rule-query.ts';
import { joinLabels, NAME_LABEL, ruleLabelsKey } from './series-labels.ts';

/**
 * Maximum series per rule, unless its group sets a lower limit. All of them wait in the state until they are
 * sent.
 */
const MAX_RECORDED_SERIES = 10_000;

const DUPLICATE_SERIES = 'vector contains metrics with the same labelset after applying rule labels';

/** Throws if there are too many series, or two with equal labels. `limit` is the group's; 0 is unlimited. */
export function evaluateRecording(
  rule: RecordingRule,
  found: readonly ResultSample[],
  limit: number,
): RuleSample[] {
  const keys = new Set<string>();
  const samples = found.map(({ labels, value }) => {
    const own = joinLabels(labels, rule.labels, { [NAME_LABEL]: rule.record });
    keys.add(ruleLabelsKey(own));
    return { labels: own, value };
  });
  if (keys.size < samples.length) throw new Error(DUPLICATE_SERIES);
  const most = limit > 0 ? Math.min(limit, MAX_RECORDED_SERIES) : MAX_RECORDED_SERIES;
  if (samples.length > most) throw new Error(`exceeded limit of ${most} with ${samples.length} series`);
  return samples;
}
