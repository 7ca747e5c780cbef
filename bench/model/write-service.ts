/**
 * Cost of taking in and merging by the write service, and where it is cheaper than functions. Pure arithmetic from
 * figures.ts, as in model.ts.
 *
 *     functions   each push pays for the gateway, a function, an object and a record
 *     service     each push pays for the gateway; objects and records are shared; containers cost by the hour
 *     address     containers are the address of the store, behind a public load balancer: no push pays for a request, and
 *                 queries pass through them
 */
import { DEFAULT_PRICES, LIST_PRICES } from '../../shared/server/admin/prices.ts';
import { mergingCost } from '../../shared/server/usage/merging.ts';
import { PUSH, WRITE_SERVICE } from './figures.ts';
import { ingestOf, type Load, modelOf } from './model.ts';

export const WRITES = ['functions', 'service', 'address'] as const;
export type WriteOperation = (typeof WRITES)[number];

interface ServiceCost {
  /** Containers at the mean rate. */
  readonly tasks: number;
  readonly kbOfGroup: number;
  /** Dollars a day. */
  readonly containers: number;
  readonly balancer: number;
  /** Requests of pushes. */
  readonly gateway: number;
  readonly storing: number;
  readonly merging: number;
  readonly total: number;
}

type ServiceLoad = Pick<Load, 'gbPerDay' | 'pushKb' | 'tenants' | 'queriesPerDay'>;

const DAY_SECONDS = 86_400;
const HOURS = 24;
const GB = 1e9;
const MILLION = 1e6;
/** Halvings of the exponent, and the volumes in which a break-even is searched, GB a day. */
const HALVINGS = 45;
const VOLUMES: readonly [number, number] = [1e-3, 1e6];

/** @param isAddress true if containers are the address of the store and forward queries */
export function serviceCost(load: ServiceLoad, isAddress: boolean): ServiceCost {
  const { gbPerDay, pushKb, tenants } = load;
  const { waitSeconds, leastTasks, cpuTarget, taskCpus, taskGb } = WRITE_SERVICE;
  const pushBytes = pushKb * 1000;
  const pushes = (gbPerDay * GB) / pushBytes;
  const forwarded = isAddress ? load.queriesPerDay : 0;
  const forwardedBytes = forwarded * WRITE_SERVICE.forwardedBytes;
  const cpuSeconds =
    pushes * WRITE_SERVICE.cpuSecondsPerPush +
    gbPerDay * WRITE_SERVICE.cpuSecondsPerGb +
    forwarded * WRITE_SERVICE.cpuSecondsPerForwarded +
    (forwardedBytes / GB) * WRITE_SERVICE.cpuSecondsPerForwardedGb;
  const tasks = Math.max(leastTasks, Math.ceil(cpuSeconds / DAY_SECONDS / cpuTarget / taskCpus));
  // A group begins with a push, and has those that come while it waits.
  const together = 1 + (pushes / DAY_SECONDS / tenants / tasks) * waitSeconds;
  const groupBytes = Math.min(WRITE_SERVICE.maxGroupBytes, pushBytes * together);
  const taken = ingestOf(load, groupBytes);
  const price = (name: keyof typeof LIST_PRICES) => LIST_PRICES[name].price;
  const addresses = tasks + (isAddress ? WRITE_SERVICE.balancerAddresses : 0);
  const containers =
    HOURS *
    (tasks * (taskCpus * price('containerCpuHour') + taskGb * price('containerGbHour')) +
      addresses * price('addressHour'));
  const units = Math.max(...Object.values(balancerUnits({ pushes, pushBytes, forwarded, isAddress })));
  const balancer = HOURS * (price('balancerHour') + units * price('balancerUnit'));
  const gateway = isAddress
    ? 0
    : (ingestOf(load, pushBytes).gatewayUnits * price('gatewayRequest')) / MILLION;
  const storing =
    (taken.objects * (price('objectPut') + price('objectGet')) + taken.writeUnits * price('tableWrite')) /
    MILLION;
  const merging = mergingCost(taken, DEFAULT_PRICES);
  const total = containers + balancer + gateway + storing + merging;
  return { tasks, kbOfGroup: groupBytes / 1000, containers, balancer, gateway, storing, merging, total };
}

interface BalancedLoad {
  /** Pushes and forwarded queries a day. */
  readonly pushes: number;
  readonly forwarded: number;
  readonly pushBytes: number;
  readonly isAddress: boolean;
}

interface BalancerUnits {
  readonly bytes: number;
  readonly newConnections: number;
  readonly activeConnections: number;
  readonly rules: number;
}

/**
 * Capacity units of the load balancer by what uses them; the largest is charged. Agents keep their connections. Behind
 * the API, the gateway keeps them, which is less.
 */
export function balancerUnits({ pushes, forwarded, pushBytes, isAddress }: BalancedLoad): BalancerUnits {
  const service = WRITE_SERVICE;
  const requestsPerSecond = (pushes + forwarded) / DAY_SECONDS;
  const bytes =
    pushes * (pushBytes * PUSH.sentShare + service.headBytes) +
    forwarded * (service.forwardedBytes + service.headBytes);
  const agents = (pushes / DAY_SECONDS) * service.secondsBetweenPushes;
  const rules = isAddress ? Math.max(0, service.rules - service.freeRules) : 0;
  return {
    bytes: bytes / HOURS / service.unitBytesPerHour,
    newConnections: agents / service.secondsOfConnection / service.unitConnectionsPerSecond,
    activeConnections: agents / service.unitActiveConnections,
    rules: (requestsPerSecond * rules) / service.unitRulesPerSecond,
  };
}

/** Dollars a day of the queries themselves, wherever pushes go. */
export function queryCost(load: Omit<Load, 'peak' | 'retentionDays'>): number {
  const { cost } = modelOf({ ...load, retentionDays: 0, peak: 1 }, DEFAULT_PRICES);
  return cost.find(({ name }) => name === 'queries')!.perMonth / 30;
}

/** Dollars a day of taking in and merging, and of forwarding queries. */
export function writeCost(load: ServiceLoad, write: WriteOperation): number {
  if (write !== 'functions') return serviceCost(load, write === 'address').total;
  const whole = { ...load, queriesPerDay: 0, queryHours: 1, retentionDays: 0, peak: 1 };
  const [taken, merged] = modelOf(whole, DEFAULT_PRICES).cost;
  return (taken.perMonth + merged.perMonth) / 30;
}

/** GB a day from which the service is cheaper than functions; infinite if it never is. */
export function breakEven(pushKb: number, write: Exclude<WriteOperation, 'functions'>): number {
  const isCheaper = (gbPerDay: number) => {
    const load = { gbPerDay, pushKb, tenants: 1, queriesPerDay: 0 };
    return writeCost(load, write) < writeCost(load, 'functions');
  };
  let [low, high] = VOLUMES;
  if (!isCheaper(high)) return Number.POSITIVE_INFINITY;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.sqrt(low * high);
    if (isCheaper(middle)) high = middle;
    else low = middle;
  }
  return high;
}
