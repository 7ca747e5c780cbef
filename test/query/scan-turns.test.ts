import { expect, test } from '@jest/globals';
import { virtualClock } from '../../shared/ports/memory/clock.ts';
import { ScanTurns } from '../../shared/query/scan-turns.ts';
import { TenantLoad } from '../../shared/query/tenant-load.ts';

const { signal } = new AbortController();

/** Scans that each work for some ms on a page: time is what they worked and what they slept. */
function scans(isPressed: () => boolean, hasOthers?: (tenant: string) => boolean) {
  const clock = virtualClock(0);
  let workedMs = 0;
  const nowMs = () => clock.nowMs() + workedMs;
  const load = new TenantLoad({ nowMs });
  const turns = new ScanTurns({ isPressed, sleep: (ms, by) => clock.sleep(ms, by), hasOthers, load, nowMs });
  const scan = async (pages: number, pageMs: number, tenant = '') => {
    for (let page = 0; page < pages; page++) {
      const startedMs = turns.nowMs();
      workedMs += pageMs;
      await turns.rest(startedMs, signal, tenant);
    }
  };
  return { clock, turns, scan, worked: () => workedMs, nowMs };
}

test.each([
  ['one query', 1],
  ['eight queries', 8],
])('under pressure the pages of %s get a share of the time, all together', async (_, queries) => {
  const { clock, scan, worked, nowMs } = scans(() => true);
  await clock.run(Promise.all(Array.from({ length: queries }, () => scan(200 / queries, 3))));
  const share = worked() / nowMs();
  expect(share).toBeGreaterThan(0.08);
  expect(share).toBeLessThan(0.13);
});

test('who was held back by pressure is known for a second, to others', async () => {
  const { clock, turns, scan } = scans(() => true);
  // Who has asked for little has saved some up.
  await clock.advance(1000);
  await clock.run(scan(1, 3, 'paced'));
  expect(turns.holdsOthersBack('pushes')).toBe(false);
  await clock.run(scan(100, 3, 'hungry'));
  expect(turns.holdsOthersBack('pushes')).toBe(true);
  expect(turns.holdsOthersBack('hungry')).toBe(false);
  await clock.advance(1001);
  expect(turns.holdsOthersBack('pushes')).toBe(false);
});

test('without pressure nobody rests', async () => {
  const { clock, scan } = scans(() => false);
  await scan(50, 3);
  expect(clock.nowMs()).toBe(0);
});

test('while others are there, who works much rests four times as long after each turn', async () => {
  const { clock, scan, worked } = scans(
    () => false,
    tenant => tenant === 'loud',
  );
  await clock.run(scan(100, 3, 'loud'));
  expect(worked()).toBe(300);
  // Not until it had 100 ms.
  expect(clock.nowMs()).toBeGreaterThan(4 * 150);
  expect(clock.nowMs()).toBeLessThan(4 * 210);
  await clock.run(scan(100, 3, 'alone'));
  expect(worked()).toBe(600);
  expect(clock.nowMs()).toBeLessThan(4 * 210);
});

test('who works little does not wait for the rest of another', async () => {
  const { clock, turns, scan } = scans(
    () => false,
    () => true,
  );
  const loud = scan(200, 5, 'loud');
  let waitedMs = 0;
  const quiet = async () => {
    await clock.sleep(500, signal);
    const fromMs = clock.nowMs();
    for (let i = 0; i < 5; i++) await turns.take(signal, 'quiet');
    waitedMs = clock.nowMs() - fromMs;
  };
  await clock.run(Promise.all([loud, quiet()]));
  expect(clock.nowMs()).toBeGreaterThan(2000);
  expect(waitedMs).toBeLessThan(5);
});

test('while a request of who works little is under way, who works much waits on', async () => {
  const { clock, turns, scan, worked } = scans(() => false);
  await scan(100, 3, 'loud');
  const end = turns.begin('quiet');
  const more = scan(3, 3, 'loud');
  await clock.advance(10);
  expect(worked()).toBe(303);
  // The other's pages do not wait for its own request, nor behind those of the first.
  await scan(2, 3, 'quiet');
  expect(clock.nowMs()).toBe(10);
  await clock.advance(1);
  expect(worked()).toBe(309);
  end();
  await clock.run(more);
  expect(worked()).toBe(315);
  expect(clock.nowMs()).toBe(11);
});

test('and comes all the same after eight times what it worked', async () => {
  const { clock, turns, scan, worked } = scans(() => false);
  await scan(100, 3, 'loud');
  turns.begin('quiet');
  await clock.run(scan(1, 3, 'loud'));
  expect(clock.nowMs()).toBe(24);
  // By then the request is old.
  await clock.advance(30);
  await clock.run(scan(10, 3, 'loud'));
  expect(worked()).toBe(333);
  expect(clock.nowMs()).toBe(54);
});

test('a long page keeps nobody waiting for long, and who is gone waits no more', async () => {
  const { clock, turns, scan } = scans(() => true);
  await clock.run(scan(1, 5000));
  expect(clock.nowMs()).toBe(200);
  const gone = new AbortController();
  const resting = turns.rest(turns.nowMs() - 600, gone.signal);
  gone.abort(new Error('the client went away'));
  await expect(resting).rejects.toThrow('the client went away');
});

test('among tenants the page of who had least comes first', async () => {
  const { turns } = turnsByHand();
  const order: string[] = [];
  const query = async (tenant: string, pages: number) => {
    for (let page = 0; page < pages; page++) {
      const startedMs = turns.nowMs();
      turns.work(10);
      order.push(tenant);
      await turns.rest(startedMs, signal, tenant);
    }
  };
  const loud = Array.from({ length: 10 }, () => query('loud', 4));
  const quiet = query('quiet', 8);
  await quiet;
  // Each tenant has had as much as the other when the quiet one is done; with turns by query it had waited for all 40.
  expect(order.filter(tenant => tenant === 'loud').length).toBeLessThan(22);
  await Promise.all(loud);
  expect(order.length).toBe(48);
});

test('a tenant that asks for little is not pressed for what another does', async () => {
  const { clock, turns, scan, nowMs } = scans(() => true);
  let quietMs = 0;
  const quiet = async () => {
    await clock.sleep(400, signal);
    const from = nowMs();
    await scan(5, 3, 'quiet');
    quietMs = nowMs() - from;
  };
  await clock.run(Promise.all([scan(200, 3, 'loud'), scan(200, 3, 'loud'), quiet()]));
  // 15 ms of its own work, and a page of the other for each of them.
  expect(quietMs).toBeLessThan(50);
  expect(turns.nowMs()).toBeGreaterThan(3000);
});

test('a great number of tenants is not remembered', async () => {
  const { turns } = turnsByHand();
  for (let tenant = 0; tenant < 2500; tenant++) await turns.rest(turns.nowMs(), signal, `${tenant}`);
  expect(turns.tenants).toBeLessThanOrEqual(1000);
});

/** Time passes by work alone. */
function turnsByHand() {
  let atMs = 0;
  class ByHand extends ScanTurns {
    work(ms: number): void {
      atMs += ms;
    }
  }
  const turns = new ByHand({ isPressed: () => false, sleep: async () => {}, nowMs: () => atMs });
  return { turns };
}
