/**
 * Creates delete requests, and cancels some, in time or with force. Another party often reads the hidden rows
 * during that, as every query does: its view of a change in progress must not be its view after the change.
 */
import { NS_PER_DAY, NS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import type { ActorContext, SimulatedActor } from '../actor.ts';
import { DELETE_QUERIES } from '../removal/queries.ts';
import type { KnownRequest } from '../removal/requests.ts';

/** Maximum requests of a tenant in a run. With many, hardly any entry is left to check. */
const MAX_REQUESTS = 3;
const MAX_LOOKS = 200;

export const deleteEntries: SimulatedActor = {
  name: 'delete entries',
  weight: 2,
  // It was canceled, or has gone too far.
  tolerates: ['ClientError', 'BadRequestError'],

  async step(context: ActorContext): Promise<void> {
    const { oracle, dice, tenants } = context;
    const tenant = dice.pick(tenants);
    const known = oracle.ledger!.requests.of(tenant);
    const left = known.filter(({ request }) => request.processedMs === undefined);
    if (left.length > 0 && dice.chance(0.25)) await cancel(context, dice.pick(left));
    else if (known.length < MAX_REQUESTS) await create(context, tenant);
  },
};

async function create(context: ActorContext, tenant: string): Promise<void> {
  const { process, dice, days } = context;
  const { query } = dice.pick(DELETE_QUERIES);
  const whole = BigInt(dice.pick(days)) * NS_PER_DAY;
  const startNs = whole + BigInt(dice.pick([0, 0, 1, 7])) * NS_PER_HOUR + BigInt(dice.below(2));
  const endNs = startNs + BigInt(dice.pick([1, 12, 24, 72])) * NS_PER_HOUR;
  const intervalNs = dice.pick([0n, NS_PER_HOUR]);
  const { deletes, pushes } = process;
  await whileOthersLook(context, tenant, () =>
    deletes!.create(tenant, { query, startNs, endNs, intervalNs }),
  );
  pushes.forget(tenant);
}

async function whileOthersLook<T>(
  { anyProcess, dice }: ActorContext,
  tenant: string,
  work: () => Promise<T>,
): Promise<T> {
  const other = anyProcess();
  let isDone = false;
  const looking = other.request(async () => {
    // A process that dies here never returns.
    for (let looks = 0; looks < MAX_LOOKS && !isDone; looks++) {
      await other.visibility!.of([tenant], other.clock.nowNs());
      await other.clock.sleep(dice.between(1, 10));
    }
  });
  const looked = looking.catch(() => undefined);
  try {
    return await work();
  } finally {
    isDone = true;
    await looked;
  }
}

async function cancel(context: ActorContext, { request }: KnownRequest): Promise<void> {
  const { process, oracle } = context;
  const { tenant, id, pickedUpMs } = request;
  oracle.ledger!.noteCanceling(tenant, id);
  const force = pickedUpMs !== undefined;
  await whileOthersLook(context, tenant, () => process.deletes!.cancel(tenant, id, { force }));
}
