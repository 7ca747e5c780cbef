/**
 * Computed rows and sentences of docs/cost.md, docs/dev/cost-model.md and docs/reference/aws.md, exactly as in the pages. A
 * test looks for each in its page, and for figures outside of these lines. After changing a price or a
 * figure, run `npm run model -- --page` and update the pages.
 */
import { costPageLines } from './page/cost-page.ts';
import { dollarsOfGbADay, fleetSums } from './page/fleet.ts';
import { aroundRows, awsSums, edgeSums, idleRows, priceRows } from './page/idle-and-watched.ts';
import { monthRows, volumeRows } from './page/month.ts';
import { batchRows, inlineSums, instanceSums, queryRows } from './page/requests.ts';
import { writeServiceRows } from './page/write-service.ts';

export const PAGES = ['cost.md', 'dev/cost-model.md', 'reference/aws.md'] as const;
export type Page = (typeof PAGES)[number];

export function computedLines(page: Page): readonly string[] {
  if (page === 'cost.md') return costPageLines();
  if (page === 'reference/aws.md') return awsSums();
  return [
    ...priceRows(),
    ...instanceSums(),
    ...inlineSums(),
    ...batchRows(),
    ...queryRows(),
    ...idleRows(),
    ...aroundRows(dollarsOfGbADay()),
    ...edgeSums(),
    ...volumeRows(),
    ...monthRows(),
    ...writeServiceRows(),
    ...fleetSums(),
  ];
}
