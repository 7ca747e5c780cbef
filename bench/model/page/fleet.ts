/**
 * Compares Logboom with CloudWatch Logs and with a fleet of the reference: the last section of
 * docs/dev/cost-model.md.
 */
import { DEFAULT_PRICES } from '../../../shared/server/admin/prices.ts';
import { FLEET, STORED_SHARE } from '../figures.ts';
import { DEFAULT_STACK, idleMonth, sumOf } from '../idle.ts';
import { ingestOf, modelOf } from '../model.ts';
import { DAYS_OF_MONTH, functionSeconds, MINUTES_OF_MONTH, price, whole } from './figures-text.ts';
import { LOAD } from './month.ts';

/** Dollars per GB: pushed; merged and indexed. */
function perGb(pushKb: number): { readonly taken: number; readonly merged: number; readonly sum: number } {
  const [taken, merged] = modelOf({ ...LOAD, pushKb }, DEFAULT_PRICES).cost.map(
    ({ perMonth }) => perMonth / DAYS_OF_MONTH,
  );
  return { taken, merged, sum: taken + merged };
}

/** Cost of a GB ingested and kept for a month, at a GB per day. */
export function dollarsOfGbADay(): number {
  return DAYS_OF_MONTH * (perGb(1000).sum + STORED_SHARE * price('objectStorage'));
}

export function fleetSums(): string[] {
  const { machines, coresOfMachine, hoursOfMonth, copies, sentShare, cpuSecondsPerGb, peak } = FLEET;
  const month = machines * price('instanceHour') * hoursOfMonth;
  const day = month / DAYS_OF_MONTH;
  // Two copies leave their zone and enter another, and both directions are charged.
  const zones = (copies - 1) * 2 * price('zoneTransfer') * sentShare;
  const large = perGb(1000);
  const [middle, small] = [perGb(100), perGb(10)];
  const gbADay = ({ sum }: { sum: number }, beside = 0) => day / (sum - beside);
  const capacity = (machines * coresOfMachine * 86_400) / (copies * cpuSecondsPerGb) / peak;
  const asked = 20 * MINUTES_OF_MONTH;
  const second = functionSeconds(1, 3008);
  const keeping = (STORED_SHARE * price('objectStorage')).toFixed(3);
  const idle = sumOf(idleMonth(DEFAULT_STACK)).toFixed(2);
  return [
    `| Logboom, pushes of 1 MB | ${large.sum.toFixed(3)}: push ${large.taken.toFixed(3)}, merging and indexing ${large.merged.toFixed(3)} (${whole(ingestOf({ gbPerDay: 1 }, 1_000_000).mergeSeconds)} s of a function, requests) | ${keeping} | ${idle}, and monitoring |`,
    `| Logboom, pushes of 100 KB | ${middle.sum.toFixed(2)} | ${keeping} | the same |`,
    `| Logboom, pushes of 10 KB | ${small.sum.toFixed(2)}, a quarter of it for deleting their records in transactions | ${keeping} | the same |`,
    `| CloudWatch Logs, standard class | ${price('logsIngested').toFixed(2)} | ${price('logsStored')} for a GB as it compresses it | none |`,
    `its share of the fleet; ${zones.toFixed(3)} between zones | S3, as here | ${whole(month)}: three m7g.large`,
    `costs ${price('logsScanned')} for each GB that a query scans. Logboom costs ${second.toFixed(5)} for each second`,
    `${price('instanceHour')} an hour for an m7g.large on demand, and ${price('zoneTransfer')} for a GB that leaves a zone and again when it arrives`,
    `at a third of the lines' size: ${zones.toFixed(3)} a GB`,
    `Pushes of 1 MB cost ${large.sum.toFixed(3)} a GB here, merged and indexed. Compared with ${whole(month)} a month`,
    `up to **${whole(Math.round(gbADay(large) / 10) * 10)} GB a day** if the fleet is in one zone`,
    `up to **${(gbADay(large, zones) / 1000).toFixed(1)} TB a day**`,
    `In pushes of 100 KB it is **${whole(gbADay(middle))} GB** (${whole(gbADay(middle, zones))} across zones), in pushes of 10 KB **${whole(gbADay(small))} GB**`,
    `took ${cpuSecondsPerGb} CPU s for a GB on the machine of the [benchmarks](benchmarks.md), so three copies take ${whole(copies * cpuSecondsPerGb)}`,
    `are full at ${(capacity / 1000).toFixed(1)} TB a day with a peak of three times the mean`,
    `20 queries of one second each minute are ${whole(asked)} s of a 3 GB function a month, ${whole(asked * second)} dollars`,
  ];
}
