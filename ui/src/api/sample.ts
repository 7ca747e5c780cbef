/** Sample data: pushed like logs of any client, and deleted by a delete request. */
import { MS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { SAMPLE_SELECTOR, sampleStreams } from '../sample/sample-lines.ts';
import { ask } from './client.ts';
import { createDelete } from './deletes.ts';

/** Age of sample data to delete, which covers earlier loads. */
const DELETED_DAYS = 30;

export async function pushSamples(): Promise<void> {
  await ask('/svc/api/v1/push', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ streams: sampleStreams(Date.now()) }),
  });
}

export async function deleteSamples(): Promise<void> {
  await createDelete({
    query: SAMPLE_SELECTOR,
    fromMs: Date.now() - DELETED_DAYS * MS_PER_DAY,
    toMs: Date.now(),
  });
}
