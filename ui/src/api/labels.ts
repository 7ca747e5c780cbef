/** What there is by label: how many bytes, how many streams. */
import { askJson } from './client.ts';
import { nsOf, type Range } from './queries.ts';
import type { DetectedLabel, LabelVolume, StreamFigures, VectorSample } from './types.ts';

/** A store has as many labels at most by default (`max_label_names_per_series` of 15, of some kinds of streams). */
const MAX_LABELS = 500;

/** Of each label, whatever its values. */
export async function askLabelVolumes(
  { fromMs, toMs }: Range,
  signal?: AbortSignal,
): Promise<readonly LabelVolume[]> {
  const params = {
    query: '{}',
    aggregateBy: 'labels',
    limit: MAX_LABELS,
    start: nsOf(fromMs),
    end: nsOf(toMs),
  };
  const answer = await askJson<{ data: { result: VectorSample[] } }>('/svc/api/v1/index/volume', {
    params,
    signal,
  });
  return answer.data.result.flatMap(({ metric, value }) =>
    Object.keys(metric).map(label => ({ label, bytes: Number(value[1]) })),
  );
}

/** Labels whose values are nothing but ids are left out. */
export async function askDetectedLabels(
  { fromMs, toMs }: Range,
  signal?: AbortSignal,
): Promise<readonly DetectedLabel[]> {
  const params = { start: nsOf(fromMs), end: nsOf(toMs) };
  const path = '/svc/api/v1/detected_labels';
  return (await askJson<{ detectedLabels?: DetectedLabel[] }>(path, { params, signal })).detectedLabels ?? [];
}

/** Of the streams that `selector` takes; all of a chunk where the range cuts one. */
export function askStreamFigures(
  selector: string,
  { fromMs, toMs }: Range,
  signal?: AbortSignal,
): Promise<StreamFigures> {
  const params = { query: selector, start: nsOf(fromMs), end: nsOf(toMs) };
  return askJson('/svc/api/v1/index/stats', { params, signal });
}
