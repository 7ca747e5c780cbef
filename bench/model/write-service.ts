/**
 * Cost of taking in and merging by the write service, and where it is cheaper than functions. Pure arithmetic from
 * figures.ts, as in model.ts.
 *
 *     functions   each push pays for the gateway, a function, an object and a record
 *     service     each push pays for the gateway; objects and records are shared; containers cost by the hour
 *     direct      the same behind a separate load balancer: no push pays for a request
 */
import { DEFAULT_PRICES, LIST_PRICES } from '../../shared/server/admin/prices.ts';
import { PUSH, WRITE_SERVICE } from './figures.ts';
import { ingestOf, type Load, mergingCost, modelOf } from './model.ts';

export const WRITES = ['functions', 'service', 'direct'] as const;
export type WriteOperation = (typeof WRITES)[number];

interface ServiceCost {
  /** Containers at the mean rate. */
  readonly tasks: number;
  readonly kbOfGroup: number;
  /** Dollars a day. */
  readonly containers: number;
  readonly balancer: number;
  readonly gateway: number;
  readonly storing: number;
  readonly merging: number;
  readonly total: number;
}

type ServiceLoad = Pick<Load, 'gbPerDay' | 'pushKb' | 'tenants'>;

const DAY_SECONDS = 86_400;
const HOURS = 24;
const GB = 1e9;
const MILLION = 1e6;
/** Halvings of the exponent, and the volumes in which a break-even is searched, GB a day. */
const HALVINGS = 45;
const VOLUMES: readonly [number, number] = [1e-3, 1e6];

export function serviceCost(load: ServiceLoad, isDirect: boolean): ServiceCost {
  const { gbPerDay, pushKb, tenants } = load;
  const { waitSeconds, leastTasks, cpuTarget, taskCpus, taskGb } = WRITE_SERVICE;
  const pushBytes = pushKb * 1000;
  const pushes = (gbPerDay * GB) / pushBytes;
  const cpuSeconds = pushes * WRITE_SERVICE.cpuSecondsPerPush + gbPerDay * WRITE_SERVICE.cpuSecondsPerGb;
  const tasks = Math.max(leastTasks, Math.ceil(cpuSeconds / DAY_SECONDS / cpuTarget / taskCpus));
  // A group begins with a push, and has those that come while it waits.
  const together = 1 + (pushes / DAY_SECONDS / tenants / tasks) * waitSeconds;
  const groupBytes = Math.min(WRITE_SERVICE.maxGroupBytes, pushBytes * together);
  const taken = ingestOf(load, groupBytes);
  const price = (name: keyof typeof LIST_PRICES) => LIST_PRICES[name].price;
  const addresses = tasks + (isDirect ? WRITE_SERVICE.balancerAddresses : 0);
  const containers =
    HOURS *
    (tasks * (taskCpus * price('containerCpuHour') + taskGb * price('containerGbHour')) +
      addresses * price('addressHour'));
  const bytesPerHour = (pushes * (pushBytes * PUSH.sentShare + WRITE_SERVICE.headBytes)) / HOURS;
  const balancer =
    HOURS * (price('balancerHour') + (bytesPerHour / WRITE_SERVICE.unitBytesPerHour) * price('balancerUnit'));
  const gateway = isDirect ? 0 : (ingestOf(load, pushBytes).gatewayUnits * price('gatewayRequest')) / MILLION;
  const storing =
    (taken.objects * (price('objectPut') + price('objectGet')) + taken.writeUnits * price('tableWrite')) /
    MILLION;
  const merging = mergingCost(taken, DEFAULT_PRICES);
  const total = containers + balancer + gateway + storing + merging;
  return { tasks, kbOfGroup: groupBytes / 1000, containers, balancer, gateway, storing, merging, total };
}

/** Dollars a day of taking in and merging. */
export function writeCost(load: ServiceLoad, write: WriteOperation): number {
  if (write !== 'functions') return serviceCost(load, write === 'direct').total;
  const whole = { ...load, queriesPerDay: 0, queryHours: 1, retentionDays: 0, peak: 1 };
  const [taken, merged] = modelOf(whole, DEFAULT_PRICES).cost;
  return (taken.perMonth + merged.perMonth) / 30;
}

/** GB a day from which the service is cheaper than functions; infinite if it never is. */
export function breakEven(pushKb: number, write: Exclude<WriteOperation, 'functions'>): number {
  const isCheaper = (gbPerDay: number) => {
    const load = { gbPerDay, pushKb, tenants: 1 };
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
