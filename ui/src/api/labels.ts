/** Label statistics: bytes and streams by label. */
import { fetchJson } from './client.ts';
import { type MsRange, nsOf } from './queries.ts';
import type { DetectedLabel, LabelVolume, StreamFigures, VectorSample } from './types.ts';

/**
 * Maximum number of labels, far above the default of 15 per stream (`max_label_names_per_series`) for several
 * kinds of streams.
 */
const MAX_LABELS = 500;

/** Bytes of each label over all values. */
export async function fetchLabelVolumes(
  { fromMs, toMs }: MsRange,
  signal?: AbortSignal,
): Promise<readonly LabelVolume[]> {
  const params = {
    query: '{}',
    aggregateBy: 'labels',
    limit: MAX_LABELS,
    start: nsOf(fromMs),
    end: nsOf(toMs),
  };
  const answer = await fetchJson<{ data: { result: VectorSample[] } }>('/svc/api/v1/index/volume', {
    params,
    signal,
  });
  return answer.data.result.flatMap(({ metric, value }) =>
    Object.keys(metric).map(label => ({ label, bytes: Number(value[1]) })),
  );
}

/** Labels without those whose values are only IDs. */
export async function fetchDetectedLabels(
  { fromMs, toMs }: MsRange,
  signal?: AbortSignal,
): Promise<readonly DetectedLabel[]> {
  const params = { start: nsOf(fromMs), end: nsOf(toMs) };
  const path = '/svc/api/v1/detected_labels';
  return (
    (await fetchJson<{ detectedLabels?: DetectedLabel[] }>(path, { params, signal })).detectedLabels ?? []
  );
}

/** Counts of the streams that match `selector`. If the range cuts a chunk, the whole chunk counts. */
export function fetchStreamFigures(
  selector: string,
  { fromMs, toMs }: MsRange,
  signal?: AbortSignal,
): Promise<StreamFigures> {
  const params = { query: selector, start: nsOf(fromMs), end: nsOf(toMs) };
  return fetchJson('/svc/api/v1/index/stats', { params, signal });
}
