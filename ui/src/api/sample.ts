/** Sample data: pushed like logs of any client, and deleted by a delete request. */
import { MS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { quoted } from '../logql/tokens.ts';
import { SAMPLE_LABEL, SAMPLE_SELECTOR } from '../sample/sample-label.ts';
import { sampleStreams } from '../sample/sample-lines.ts';
import { fetchText } from './client.ts';
import { createDelete } from './deletes.ts';
import { fetchLabelValues, fetchLogs, type MsRange, nsOf } from './queries.ts';

/** Age of sample data to delete, which covers earlier loads. */
const DELETED_DAYS = 30;

export async function pushSamples(): Promise<void> {
  await fetchText('/svc/api/v1/push', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ streams: sampleStreams(Date.now()) }),
  });
}

/** True if a query finds sample data. Volumes still count data that a delete request hides. */
export async function hasSamples({ fromMs, toMs }: MsRange, signal: AbortSignal): Promise<boolean> {
  const asked = { startNs: nsOf(fromMs), endNs: nsOf(toMs), limit: 1, direction: 'backward' } as const;
  const { data } = await fetchLogs({ query: SAMPLE_SELECTOR, ...asked }, signal);
  return data.resultType === 'streams' && data.result.length > 0;
}

export async function deleteSamples(): Promise<void> {
  const toMs = Date.now();
  const range = { fromMs: toMs - DELETED_DAYS * MS_PER_DAY, toMs };
  const loads = await fetchLabelValues(SAMPLE_LABEL, range);
  await createDelete({ query: `{${SAMPLE_LABEL}=~${quoted(loads.join('|'))}}`, ...range });
}
