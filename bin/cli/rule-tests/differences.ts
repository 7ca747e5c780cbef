/**
 * Compares expected with found results, as lines: `-` is expected and missing, `+` is found and not expected.
 */

import { formatPlain } from '../../../shared/base/model/number.ts';
import { NAME_LABEL, ruleLabelsKey } from '../../../shared/server/rules/series-labels.ts';
import type { AlertState } from '../../../shared/storage/catalog/rule-group.ts';
import type { RuleSample } from '../../../shared/storage/catalog/rule-state.ts';
import { type LabelObject, labelText } from '../answer-text.ts';
import type { AlertCheck, SampleCheck } from './test-file.ts';

const ALERT_LABEL = 'alertname';
/** Maximum relative difference of equal samples. The last digits of a float sum depend on its order. */
const MAX_RELATIVE_ERROR = 1e-9;

type ExpectedAlert = AlertCheck['expect'][number];
type ActualAlert = Pick<AlertState, 'state' | 'labels' | 'annotations' | 'value'>;

/** Differences; empty if they agree. Each expected alert matches one found alert. */
export function alertDifference(
  alert: string,
  expected: readonly ExpectedAlert[],
  found: readonly ActualAlert[],
): string[] {
  const named = (labels: LabelObject) => ruleLabelsKey({ ...labels, [ALERT_LABEL]: alert });
  return difference(
    expected,
    found,
    (want, got) =>
      want.state === got.state &&
      named(want.labels) === named(got.labels) &&
      (want.annotations === undefined ||
        ruleLabelsKey(want.annotations) === ruleLabelsKey(got.annotations)) &&
      (want.value === undefined || isSame(want.value, got.value)),
    alertText,
  );
}

/** Compares samples by labels without the series name. */
export function sampleDifference(expected: SampleCheck['expect'], found: readonly RuleSample[]): string[] {
  const got = found.map(({ labels, value }) => ({
    labels: without(labels, NAME_LABEL),
    value: Number(value),
  }));
  return difference(
    expected,
    got,
    (want, one) => ruleLabelsKey(want.labels) === ruleLabelsKey(one.labels) && isSame(want.value, one.value),
    ({ labels, value }) => `${labelText(labels)} ${formatPlain(value)}`,
  );
}

function difference<Expected, Found>(
  expected: readonly Expected[],
  found: readonly Found[],
  agree: (want: Expected, got: Found) => boolean,
  text: (one: Expected | Found) => string,
): string[] {
  const left = [...found];
  const missing = expected.filter(want => {
    const index = left.findIndex(got => agree(want, got));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
  return [...missing.map(one => `- ${text(one)}`), ...left.map(one => `+ ${text(one)}`)];
}

function alertText({ state, labels, annotations, value }: ExpectedAlert | ActualAlert): string {
  const parts = [state, labelText(without(labels, ALERT_LABEL))];
  if (annotations !== undefined && Object.keys(annotations).length > 0) {
    parts.push(`annotations ${labelText(annotations)}`);
  }
  if (value !== undefined) parts.push(`value ${formatPlain(value)}`);
  return parts.join(' ');
}

function without(labels: LabelObject, name: string): LabelObject {
  return Object.fromEntries(Object.entries(labels).filter(([one]) => one !== name));
}

function isSame(want: number, got: number): boolean {
  if (Object.is(want, got) || want === got) return true;
  if (!Number.isFinite(want) || !Number.isFinite(got)) return false;
  return Math.abs(want - got) <= MAX_RELATIVE_ERROR * Math.max(Math.abs(want), Math.abs(got));
}
