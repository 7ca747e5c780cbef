/** Write service next to functions: the sections of docs/dev/cost-model.md and docs/cost.md about many small agents. */
import { WRITE_SERVICE } from '../figures.ts';
import {
  balancerUnits,
  breakEven,
  queryCost,
  serviceCost,
  WRITES,
  type WriteOperation,
  writeCost,
} from '../write-service.ts';
import { DAYS_OF_MONTH, twoDigits, whole } from './figures-text.ts';

/** The fleet of the pages: agents that push each second, and queries about the last hour. */
const AGENTS = 1000;
const DAY_SECONDS = 86_400;
const SIZES = [1, 10, 100, 1000];
const QUERIES_PER_DAY = 10_000;
const QUERY_HOURS = 1;

const fleetOf = (pushKb: number) => ({
  gbPerDay: (AGENTS * pushKb * DAY_SECONDS) / 1e6,
  pushKb,
  tenants: 1,
  queriesPerDay: QUERIES_PER_DAY,
});
const nameOf = (pushKb: number) => (pushKb === 1000 ? '1 MB' : `${pushKb} KB`);
const perGb = (dollars: number, gb: number) => twoDigits(dollars / gb);

function evenOf(pushKb: number, write: Exclude<WriteOperation, 'functions'>): string {
  const gb = breakEven(pushKb, write);
  return Number.isFinite(gb) ? whole(gb) : 'never';
}

/** Lines of docs/dev/cost-model.md. */
export function writeServiceRows(): string[] {
  const fleet = fleetOf(10);
  const { gbPerDay } = fleet;
  const address = serviceCost(fleet, true);
  const behind = serviceCost(fleet, false);
  const alone = serviceCost({ ...fleet, queriesPerDay: 0 }, true);
  const queries = queryCost({ ...fleet, queryHours: QUERY_HOURS });
  const units = balancerUnits({
    pushes: (gbPerDay * 1e9) / 10_000,
    pushBytes: 10_000,
    forwarded: QUERIES_PER_DAY,
    isAddress: true,
  });
  const row = (name: string, dollars: number) =>
    `| ${name} | ${dollars.toFixed(2)} | ${(dollars / gbPerDay).toFixed(4)} |`;
  const { rules, freeRules, secondsOfConnection, forwardedBytes } = WRITE_SERVICE;
  return [
    `${whole(AGENTS)} agents that push 10 KB each second, ${whole(gbPerDay)} GB a day, to ${address.tasks} containers`,
    `objects of ${whole(address.kbOfGroup)} KB`,
    row('containers and their addresses', address.containers),
    row('load balancer', address.balancer),
    row('objects and records', address.storing),
    row('merging and indexing', address.merging),
    row(`${whole(QUERIES_PER_DAY)} queries about the last hour`, queries),
    row('**together**', address.total + queries),
    `Forwarding these queries is ${(address.total - alone.total).toFixed(2)} of it`,
    `${units.bytes.toFixed(1)} for bytes, ${units.newConnections.toFixed(2)} for new connections, ${units.activeConnections.toFixed(2)} for open ones, and ${whole(units.rules)} for rules, because it has ${rules} and ${freeRules} are free`,
    `opens a connection every ${secondsOfConnection} s`,
    `With \`write=service\` behind the API, API Gateway adds ${whole(behind.gateway)} dollars a day`,
    ...SIZES.map(pushKb => {
      const load = fleetOf(pushKb);
      const cells = WRITES.map(write => perGb(writeCost(load, write), load.gbPerDay));
      const from = (['service', 'address'] as const).map(write => evenOf(pushKb, write));
      return `| ${nameOf(pushKb)} | ${[...cells, ...from].join(' | ')} |`;
    }),
    `${1e6 * WRITE_SERVICE.cpuSecondsPerPush} µs of CPU for a push and ${WRITE_SERVICE.cpuSecondsPerGb} s for a GB`,
    `${1e6 * WRITE_SERVICE.cpuSecondsPerForwarded} µs for a forwarded request and ${WRITE_SERVICE.cpuSecondsPerForwardedGb} s for a GB of responses`,
    `responses of ${forwardedBytes / 1000} KB`,
  ];
}

/** Lines of docs/cost.md. */
export function writeServiceSums(): string[] {
  const fleet = fleetOf(10);
  const row = (name: string, write: WriteOperation) => {
    const dollars = writeCost(fleet, write);
    return `| ${name} | ${(dollars / fleet.gbPerDay).toFixed(2)} | ${whole(dollars)} |`;
  };
  const from = ([10, 100, 1000] as const).map(pushKb => `${evenOf(pushKb, 'address')} GB`);
  const nothing = serviceCost({ gbPerDay: 1e-9, pushKb: 10, tenants: 1, queriesPerDay: 0 }, true);
  return [
    `${whole(AGENTS)} agents that push 10 KB each second`,
    row('`write=functions`', 'functions'),
    row('`write=service`, behind API Gateway', 'service'),
    row('`write=service`, `edge=no` and `domain`: one address behind a load balancer', 'address'),
    `from about ${from[0]} a day in pushes of 10 KB, ${from[1]} in pushes of 100 KB, and ${from[2]} in pushes of 1 MB`,
    `Its fixed cost is about ${whole(nothing.total)} dollars a day, ${whole(nothing.total * DAYS_OF_MONTH)} a month`,
  ];
}
