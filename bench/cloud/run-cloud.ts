/**
 * `npm run bench -- cloud`: the suite over modeled ports, cold and then warm. Each query runs in a new
 * process, so that its caches are empty.
 */
import { type CloudStore, loadCloudStore } from './cloud-store.ts';
import { type Dataset, manyDays, oneDay, unmerged } from './datasets.ts';
import type { RequestTotals } from './request-trace.ts';
import { type CloudQuery, cloudSuite } from './suite.ts';

export interface CloudFigure {
  readonly dataset: string;
  readonly query: string;
  readonly cold: RequestTotals;
  readonly warm: RequestTotals;
  readonly answer: string;
}

const CLOUD_DAYS = 30;

/** @param mb size of the day; each of the thirty days has at most 2 MB */
export function cloudDatasets(mb: number): Dataset[] {
  return [oneDay(mb), manyDays(CLOUD_DAYS, Math.min(2, mb / 8)), unmerged(497)];
}

export async function measureQuery(
  store: CloudStore,
  dataset: Dataset,
  query: CloudQuery,
): Promise<CloudFigure> {
  const process = store.process();
  const cold = await process.ask(query);
  const warm = await process.ask(query);
  for (const { status, body } of [cold, warm]) if (status !== 200) throw new Error(`${query.name}: ${body}`);
  return {
    dataset: dataset.name,
    query: query.name,
    cold: cold.totals,
    warm: warm.totals,
    answer: cold.body,
  };
}

export async function runCloud(mb: number, say: (text: string) => void): Promise<CloudFigure[]> {
  const figures: CloudFigure[] = [];
  for (const dataset of cloudDatasets(mb)) {
    say(`loading: ${dataset.name}`);
    const store = await loadCloudStore(dataset);
    for (const query of cloudSuite(dataset)) figures.push(await measureQuery(store, dataset, query));
  }
  return figures;
}
