/** Write service next to functions: the section of docs/dev/cost-model.md about many small agents. */
import { WRITE_SERVICE } from '../figures.ts';
import { breakEven, serviceCost, WRITES, writeCost } from '../write-service.ts';
import { whole } from './figures-text.ts';

/** The fleet of the page: agents that push each second. */
const AGENTS = 1000;
const DAY_SECONDS = 86_400;
const SIZES = [1, 10, 100, 1000];

const fleetOf = (pushKb: number) => ({ gbPerDay: (AGENTS * pushKb * DAY_SECONDS) / 1e6, pushKb, tenants: 1 });
/** Dollars of a GB, two digits that count. */
const perGb = (dollars: number, gb: number) => `${Number((dollars / gb).toPrecision(2))}`;

export function writeServiceRows(): string[] {
  const fleet = fleetOf(10);
  const { gbPerDay } = fleet;
  const direct = serviceCost(fleet, true);
  const behind = serviceCost(fleet, false);
  const row = (name: string, dollars: number) =>
    `| ${name} | ${dollars.toFixed(2)} | ${(dollars / gbPerDay).toFixed(4)} |`;
  return [
    `${whole(AGENTS)} agents that push 10 KB each second, ${whole(gbPerDay)} GB a day, to ${direct.tasks} containers`,
    `objects of ${whole(direct.kbOfGroup)} KB`,
    row('containers and their addresses', direct.containers),
    row('load balancer', direct.balancer),
    row('objects and records', direct.storing),
    row('merging and indexing', direct.merging),
    row('**together**', direct.total),
    `With \`write=service\` alone, API Gateway adds ${whole(behind.gateway)} dollars a day`,
    ...SIZES.map(pushKb => {
      const load = fleetOf(pushKb);
      const cells = WRITES.map(write => perGb(writeCost(load, write), load.gbPerDay));
      const from = (['service', 'direct'] as const).map(write => {
        const gb = breakEven(pushKb, write);
        return Number.isFinite(gb) ? whole(gb) : 'never';
      });
      return `| ${pushKb === 1000 ? '1 MB' : `${pushKb} KB`} | ${[...cells, ...from].join(' | ')} |`;
    }),
    `${1e6 * WRITE_SERVICE.cpuSecondsPerPush} µs of CPU for a push and ${WRITE_SERVICE.cpuSecondsPerGb} s for a GB`,
  ];
}
