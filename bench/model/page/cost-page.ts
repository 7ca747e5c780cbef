/** Lines of docs/cost.md. */
import { DEFAULT_PRICES } from '../../../shared/server/admin/prices.ts';
import { mergingCost } from '../../../shared/server/usage/merging.ts';
import { QUERY, STORED_SHARE } from '../figures.ts';
import { DEFAULT_STACK, idleMonth, sumOf } from '../idle.ts';
import { ingestOf, modelOf, queryCosts } from '../model.ts';
import { functionSeconds, money, price, twoDigits, whole } from './figures-text.ts';
import { monitoringMonth } from './idle-and-watched.ts';
import { LOAD } from './month.ts';
import { batches } from './requests.ts';
import { writeServiceSums } from './write-service.ts';

const SIZES = ['1 KB', '4 KB', '10 KB', '100 KB', '1 MB'];
const QUERY_GB = 400;
const VOLUMES = [
  { name: '1 GB a day', gbPerDay: 1, tenants: 1 },
  { name: '100 GB a day, 10 tenants', gbPerDay: 100, tenants: 10 },
  { name: '10 TB a day, 100 tenants', gbPerDay: 10_000, tenants: 100 },
];

export function costPageLines(): string[] {
  const taken = ingestOf({ gbPerDay: 1 }, LOAD.pushKb * 1000);
  const merging = mergingCost(taken, DEFAULT_PRICES);
  const [counts, rare, much] = queryCosts(QUERY_GB, DEFAULT_PRICES).map(twoDigits);
  return [
    ...batches()
      .filter(({ name }) => SIZES.includes(name))
      .map(({ name, pushes, sum }) => `| ${name} | ${whole(pushes)} | ${sum.toFixed(2)} |`),
    `Merging adds about ${merging.toFixed(3)}, for ${whole(taken.mergeSeconds)} s of a function and requests`,
    ...writeServiceSums(),
    `about ${functionSeconds(1, QUERY.memoryGb * 1024).toFixed(5)} dollars of function time`,
    `| query over ${QUERY_GB} GB of lines | dollars |`,
    `| count by minute | ${counts} |`,
    `| a text that few lines have | ${rare} |`,
    `| a filter on a JSON field, which reads all lines | ${much} |`,
    `takes ${STORED_SHARE} GB after merging, at ${price('objectStorage')} dollars per GB and month`,
    `| unused | ${sumOf(idleMonth(DEFAULT_STACK)).toFixed(2)} |`,
    ...VOLUMES.map(
      ({ name, ...size }) =>
        `| ${name} | ${money(modelOf({ ...LOAD, ...size }, DEFAULT_PRICES).costPerMonth)} |`,
    ),
    `Alarms, dashboard and canary add about ${whole(monitoringMonth())} dollars a month`,
  ];
}
