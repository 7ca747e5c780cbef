/** Rate limit of a tenant over several processes: their combined throughput, for any distribution of load. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Limits } from '../../../shared/base/model/limits.ts';
import type { Demand } from '../../../shared/storage/catalog/ingest-exchange.ts';
import { EXCHANGE_MS } from '../../../shared/write/ingest/rates/bounds.ts';
import { type Rate, TenantRate } from '../../../shared/write/ingest/rates/tenant-rate.ts';
import { type Processes, processes, pushOfBytes, SMALL_LIMITS, settle } from './processes.ts';

const RATE = 1000;
const BURST = 3000;

interface Taken {
  readonly atMs: number;
  readonly bytes: number;
}

async function offer(
  { clock, running }: Processes,
  process: number,
  bytes: number,
  limits: Limits = SMALL_LIMITS,
): Promise<Taken> {
  const { entries } = await running[process].admit('t', limits, pushOfBytes({ a: bytes }));
  await settle();
  return { atMs: clock.nowMs(), bytes: entries.length === 0 ? 0 : bytes };
}

/** Offers each process its bytes every 200 ms for a while; returns what each accepted. */
async function offerSteadily(
  all: Processes,
  bytesPerSecond: readonly number[],
  forMs: number,
  limits?: Limits,
): Promise<number[]> {
  const taken = bytesPerSecond.map(() => 0);
  for (let ms = 0; ms < forMs; ms += 200) {
    for (const [i, rate] of bytesPerSecond.entries()) {
      if (rate > 0) taken[i] += (await offer(all, i, rate / 5, limits)).bytes;
    }
    all.clock.advance(200);
  }
  return taken;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);

describe('the tenant rate with steady demand', () => {
  test('is used in full by one process', async () => {
    const all = processes(1);
    await offerSteadily(all, [5000], 20_000);
    const [taken] = await offerSteadily(all, [5000], 60_000);
    expect(taken).toBeGreaterThanOrEqual(RATE * 60 - 1000);
    expect(taken).toBeLessThanOrEqual(RATE * 60);
  });

  test('refuses nothing below the rate', async () => {
    const taken = await offerSteadily(processes(3), [500, 300, 150], 60_000);
    expect(taken).toEqual([500 * 60, 300 * 60, 150 * 60]);
  });

  test('is divided among processes by demand', async () => {
    const all = processes(3);
    await offerSteadily(all, [1000, 500, 500], 20_000);
    const taken = await offerSteadily(all, [1000, 500, 500], 100_000);
    expect(sum(taken)).toBeGreaterThan(RATE * 100 * 0.97);
    expect(sum(taken)).toBeLessThanOrEqual(RATE * 100 + 100);
    expect(taken[0] / taken[1]).toBeCloseTo(13 / 7, 0);
  });

  test('moves from a stopped process to the others', async () => {
    const all = processes(2);
    await offerSteadily(all, [1000, 1000], 30_000);
    await offerSteadily(all, [0, 2000], 20_000);
    const [, taken] = await offerSteadily(all, [0, 2000], 60_000);
    expect(taken).toBeGreaterThan(RATE * 60 * 0.97);
  });

  test('is separate per process without exchanges with the strategy local', async () => {
    const all = processes(2);
    const limits: Limits = { ...SMALL_LIMITS, ingestionRateStrategy: 'local' };
    const taken = await offerSteadily(all, [2000, 2000], 60_000, limits);
    for (const bytes of taken) expect(bytes).toBeGreaterThan(RATE * 60);
    expect(all.calls).toEqual({ puts: 0, queries: 0 });
  });
});

describe('the cost of exchanges', () => {
  test('is at most one write and one read per interval', async () => {
    const all = processes(1);
    await offerSteadily(all, [5000], 60_000);
    expect(all.calls.puts).toBeLessThanOrEqual(60_000 / EXCHANGE_MS);
    expect(all.calls.puts).toBeGreaterThan(8);
    expect(all.calls.queries).toBe(all.calls.puts);
  });

  test("is zero for a tenant with less than a fiftieth of an interval's load", async () => {
    const all = processes(1);
    await offer(all, 0, 50);
    await offer(all, 0, 50);
    expect(all.calls.puts).toBe(0);
    await offer(all, 0, 1);
    expect(all.calls.puts).toBe(1);
  });

  test('is bounded in writes by bytes, not by processes', async () => {
    const all = processes(10);
    await offerSteadily(
      all,
      Array.from({ length: 10 }, () => 10),
      100_000,
    );
    // 10,000 bytes, reported in parts of more than 100.
    expect(all.calls.puts).toBeLessThanOrEqual(100);
  });
});

test('a push over the burst is never accepted', async () => {
  const all = processes(1);
  expect((await offer(all, 0, BURST + 1)).bytes).toBe(0);
  all.clock.advance(1e9);
  expect((await offer(all, 0, BURST + 1)).bytes).toBe(0);
  expect((await offer(all, 0, BURST)).bytes).toBe(BURST);
});

const PROCESSES = 3;
/** A period in which each process is offered pushes of one size, some of them none. */
const phase = fc.record({
  ms: fc.integer({ min: 500, max: 12_000 }),
  gapMs: fc.integer({ min: 100, max: 2500 }),
  bytes: fc.array(fc.constantFrom(0, 0, 20, 300, 1500, BURST), {
    minLength: PROCESSES,
    maxLength: PROCESSES,
  }),
});

async function run(all: Processes, phases: readonly { ms: number; gapMs: number; bytes: number[] }[]) {
  const taken: Taken[] = [];
  for (const { ms, gapMs, bytes } of phases) {
    for (let spent = 0; spent < ms; spent += gapMs) {
      for (const [process, size] of bytes.entries()) {
        if (size > 0) taken.push(await offer(all, process, size));
      }
      all.clock.advance(gapMs);
    }
  }
  return taken;
}

/** The most that was taken in any window beyond rate x window. */
function overshoot(taken: readonly Taken[]): number {
  let most = 0;
  let level = 0;
  let beforeMs = 0;
  // The level of a bucket that leaks with the rate is the largest sum over windows that end now.
  for (const { atMs, bytes } of taken) {
    level = Math.max(0, level - ((atMs - beforeMs) * RATE) / 1000) + bytes;
    beforeMs = atMs;
    most = Math.max(most, level);
  }
  return most;
}

const TOLERANCE = (count: number) => (count + 1) * (BURST + (2 * EXCHANGE_MS * RATE) / 1000);

describe('the tenant rate with any load distribution', () => {
  test('accepts at most rate x window + tolerance in any window', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(phase, { minLength: 1, maxLength: 25 }), async phases => {
        const taken = await run(processes(PROCESSES), phases);
        expect(overshoot(taken)).toBeLessThanOrEqual(TOLERANCE(PROCESSES));
      }),
      { numRuns: 60 },
    );
  });

  test('does not add up for load that moves between processes repeatedly', async () => {
    const turns = Array.from({ length: 60 }, (_, i) => ({
      ms: 5000 + (i % 7) * 700,
      gapMs: 250,
      bytes: [0, 1, 2].map(process => (i % PROCESSES === process ? 1500 : 0)),
    }));
    const taken = await run(processes(PROCESSES), turns);
    expect(overshoot(taken)).toBeLessThanOrEqual(TOLERANCE(PROCESSES));
    const seconds = sum(turns.map(({ ms }) => ms)) / 1000;
    const bytes = sum(taken.map(({ bytes: some }) => some));
    expect(bytes).toBeGreaterThan(RATE * seconds * 0.5);
  });

  test('is limited to rate x window + burst for a single process, which can use it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(phase, { minLength: 1, maxLength: 10 }), async phases => {
        const alone = phases.map(({ bytes, ...rest }) => ({ ...rest, bytes: bytes.slice(0, 1) }));
        const taken = await run(processes(1), alone);
        expect(overshoot(taken)).toBeLessThanOrEqual(BURST + 1e-6);
      }),
      { numRuns: 30 },
    );
  });
});

test('pushes continue with the last known share if the table fails', async () => {
  let isBroken = true;
  const warnings: string[] = [];
  const all = processes(1, {
    wrap: table => ({
      ...table,
      put: item => (isBroken ? Promise.reject(new Error('no table')) : table.put(item)),
    }),
    log: { warn: (_, message) => warnings.push(message) },
  });
  const [taken] = await offerSteadily(all, [RATE], 30_000);
  expect(taken).toBe(RATE * 30);
  expect(warnings.length).toBeGreaterThanOrEqual(4);
  expect(warnings.length).toBeLessThanOrEqual(6);
  isBroken = false;
  const before = warnings.length;
  await offerSteadily(all, [RATE], 30_000);
  expect(warnings).toHaveLength(before);
  expect(all.calls.puts).toBeGreaterThan(0);
});

test('an exchange that hangs delays nothing, and is retried later', async () => {
  let asked = 0;
  const all = processes(1, {
    wrap: table => ({
      ...table,
      put: () => {
        asked++;
        return new Promise(() => undefined);
      },
    }),
  });
  expect(await offerSteadily(all, [RATE], 29_000)).toEqual([RATE * 29]);
  expect(asked).toBe(1);
  await offerSteadily(all, [RATE], 5000);
  expect(asked).toBe(2);
});

describe('the combined count', () => {
  const rate: Rate = { bytesPerSecond: RATE, burstBytes: BURST, isShared: true };
  const SLACK = (RATE * 2 * EXCHANGE_MS) / 1000;
  const other = (takenBytes: number, newBytes = takenBytes): Demand => ({
    process: 'b',
    bytesPerSecond: 0,
    takenBytes,
    newBytes,
    hotStreams: [],
  });

  test.each<[name: string, told: Demand[], waitMs: number, isTaken: boolean]>([
    ['nothing told', [], 0, true],
    ['as much as may be', [other(BURST + SLACK - 100)], 0, true],
    ['a byte more', [other(BURST + SLACK - 99)], 0, false],
    ['until the rate made it good', [other(BURST + SLACK + 900)], 999, false],
    ['and no longer', [other(BURST + SLACK + 900)], 1000, true],
    ['of an unknown process only what is new', [other(1e9, 100)], 0, true],
    ['of a known one what it took since', [other(1e9, 100), other(1e9 + 20_000, 5)], 0, false],
    ['what is told twice counts once', [other(8000), other(8000)], 0, true],
    ['a total that falls counts nothing', [other(BURST + SLACK - 99), other(10)], 0, false],
  ])('%s', (_, told, waitMs, isTaken) => {
    const tenant = new TenantRate();
    for (const demand of told) tenant.learn([demand], rate, 0);
    expect(tenant.take(100, rate, waitMs)).toBe(isTaken);
  });

  test('applies only to shared rates', () => {
    const tenant = new TenantRate();
    tenant.learn([other(1e9)], rate, 0);
    expect(tenant.take(100, { ...rate, isShared: false }, 0)).toBe(true);
  });
});

test('a report contains demand up to the rate, and the amount accepted since the previous report', () => {
  const rate: Rate = { bytesPerSecond: RATE, burstBytes: BURST, isShared: true };
  const tenant = new TenantRate();
  tenant.take(2000, rate, 0);
  tenant.take(2000, rate, 0);
  const first = tenant.report('a', [[1, 2]], rate, 0);
  expect(first).toEqual({
    process: 'a',
    bytesPerSecond: 400,
    takenBytes: 2000,
    newBytes: 2000,
    hotStreams: [[1, 2]],
  });
  expect(tenant.take(500, rate, 5000)).toBe(true);
  for (let i = 0; i < 5; i++) expect(tenant.take(BURST, rate, 5000)).toBe(false);
  const second = tenant.report('a', [], rate, 5000);
  expect(second).toEqual({
    process: 'a',
    bytesPerSecond: RATE,
    takenBytes: 2500,
    newBytes: 500,
    hotStreams: [],
  });
});
