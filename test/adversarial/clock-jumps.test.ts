/** Clocks of the store and of clients jump while entries are pushed, merged and deleted. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { fetchDeletes } from '../http/delete-calls.ts';
import { linesOf, pushLine, START_MS, type TestProcess, testStores } from '../maintenance/store.ts';
import { bySuite } from '../support/suite.ts';

const TENANT = 'acme';
const JOBS = ['compaction', 'index-sync', 'deletion', 'retention', 'collection'];
const LIMITS = { ...DEFAULT_CONFIG.limits, deletionMode: 'filter-and-delete' as const };

const start = () => testStores({}, { limits: LIMITS });

async function runJobs(process: TestProcess): Promise<void> {
  for (const job of JOBS) await process.run(job);
}

const found = (process: TestProcess) =>
  linesOf(process, TENANT, START_MS - 3 * MS_PER_DAY, START_MS + 12 * MS_PER_DAY);

const requestDelete = (process: TestProcess, given: Readonly<Record<string, string | number>>) =>
  fetchDeletes(process, 'POST', { query: '{app="a"} |= "gone"', ...given });

const seconds = (ms: number) => Math.floor(ms / 1000);

// [what, jumps of the clock in ms]
test.each([
  ['forward', [2 * MS_PER_HOUR, MS_PER_DAY, 2 * MS_PER_DAY]],
  ['backward', [-10 * MS_PER_MINUTE, -2 * MS_PER_HOUR, -MS_PER_DAY]],
  [
    'to and fro',
    [
      2 * MS_PER_HOUR,
      -2 * MS_PER_HOUR,
      2 * MS_PER_DAY,
      -2 * MS_PER_DAY,
      MS_PER_HOUR,
      -MS_PER_HOUR,
      5 * MS_PER_MINUTE,
    ],
  ],
])('nothing is lost, repeated or shown again if the clock of the store jumps %s', async (_, jumps) => {
  const { clock, process: startProcess } = start();
  const process = startProcess(1);
  // Old enough for the earliest time of the clock.
  const entriesMs = START_MS - 2 * MS_PER_DAY;
  const kept: string[] = [];
  const push = async (line: string) => {
    await pushLine(process, TENANT, entriesMs + kept.length * 1000, line);
  };
  const pushKept = async () => {
    for (let i = 0; i < 5; i++) {
      const line = `kept ${String(kept.length).padStart(3, '0')}`;
      await push(line);
      kept.push(line);
    }
  };
  await push('gone 1');
  await pushKept();
  await push('gone 2');
  expect((await requestDelete(process, { start: seconds(entriesMs) - 1 })).status).toBe(204);
  expect(await found(process)).toEqual(kept);
  for (const jump of jumps) {
    clock.advance(jump);
    await pushKept();
    expect(await found(process)).toEqual(kept);
    await runJobs(process);
    expect(await found(process)).toEqual(kept);
    clock.advance(MS_PER_MINUTE);
    await runJobs(process);
    expect(await found(process)).toEqual(kept);
  }
  for (let i = 0; i < 8; i++) {
    clock.advance(MS_PER_DAY / 2);
    await runJobs(process);
    expect(await found(process)).toEqual(kept);
  }
  expect(await found(startProcess(2))).toEqual(kept);
  const list = await fetchDeletes(process, 'GET');
  expect(JSON.parse(list.text)).toEqual([expect.objectContaining({ status: 'processed' })]);
});

test('deletes and pushes of a client two hours behind keep their order', async () => {
  const { clock, process: startProcess } = start();
  const process = startProcess(1);
  const kept: string[] = [];
  for (let round = 0; round < 4; round++) {
    const clientMs = clock.nowMs() - 2 * MS_PER_HOUR;
    for (const what of ['gone', 'kept']) await pushLine(process, TENANT, clientMs, `${what} before ${round}`);
    const [asked] = await Promise.all([
      requestDelete(process, { start: seconds(clientMs) - 600, end: seconds(clientMs) + 600 }),
      ...Array.from({ length: 5 }, (_, i) =>
        pushLine(process, TENANT, clientMs + i, `kept beside ${round}-${i}`),
      ),
    ]);
    expect(asked.status).toBe(204);
    kept.push(`kept before ${round}`, ...Array.from({ length: 5 }, (_, i) => `kept beside ${round}-${i}`));
    expect(await found(process)).toEqual(kept.toSorted());
    await runJobs(process);
    clock.advance(10 * MS_PER_MINUTE);
  }
  for (let i = 0; i < 8; i++) {
    clock.advance(MS_PER_DAY / 2);
    await runJobs(process);
    expect(await found(process)).toEqual(kept.toSorted());
  }
  expect(await found(startProcess(2))).toEqual(kept.toSorted());
  // The requests are done: what is pushed from now on is new.
  await pushLine(process, TENANT, clock.nowMs() - 2 * MS_PER_HOUR, 'gone, and pushed again');
  expect(await found(process)).toEqual([...kept, 'gone, and pushed again'].toSorted());
});

test('entries two hours ahead are refused, and entries five minutes ahead are deleted when their time has come', async () => {
  const { clock, process: startProcess } = start();
  const process = startProcess(1);
  const ahead = pushLine(process, TENANT, clock.nowMs() + 2 * MS_PER_HOUR, 'gone');
  await expect(ahead).rejects.toThrow(/^400: .*timestamp too new/);
  await pushLine(process, TENANT, clock.nowMs() + 5 * MS_PER_MINUTE, 'gone');
  const given = { start: seconds(clock.nowMs()) - 600 };
  // A request ends at its creation at the latest.
  expect((await requestDelete(process, { ...given, end: seconds(clock.nowMs()) + 600 })).status).toBe(400);
  expect((await requestDelete(process, given)).status).toBe(204);
  expect(await found(process)).toEqual(['gone']);
  clock.advance(6 * MS_PER_MINUTE);
  expect((await requestDelete(process, given)).status).toBe(204);
  expect(await found(process)).toEqual([]);
});

/** Clients two hours behind, on time and two hours ahead. */
const OFFSETS_MS = [-2 * MS_PER_HOUR, 0, 2 * MS_PER_HOUR];
const JUMPS_MS = [-MS_PER_DAY, -2 * MS_PER_HOUR, -MS_PER_HOUR, MS_PER_HOUR, 2 * MS_PER_HOUR, MS_PER_DAY];
/** Requests are cut at seconds: entries keep away from that. */
const NEAR_MS = 2_000;
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('push'), offsetMs: fc.constantFrom(...OFFSETS_MS) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('delete') }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('jump'), ms: fc.constantFrom(...JUMPS_MS) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('jobs') }) },
);
type Step = { does: string; offsetMs?: number; ms?: number };

test('property: deletes hide earlier pushes with earlier timestamps, whatever the clocks show', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps: Step[]) => {
      const limits = { ...LIMITS, creationGracePeriodNs: BigInt(3 * MS_PER_HOUR) * 1_000_000n };
      const { clock, process: startProcess } = testStores({}, { limits });
      const process = startProcess(1);
      const entries: { readonly line: string; readonly ms: number; isGone: boolean }[] = [];
      const shown = () =>
        entries
          .filter(({ isGone }) => !isGone)
          .map(({ line }) => line)
          .toSorted();
      const push = async (what: string, ms: number) => {
        const line = `${what} ${entries.length}`;
        entries.push({ line, ms, isGone: false });
        await pushLine(process, TENANT, ms, line);
      };
      // What is pushed after a request is not for it to hide, so it matches no earlier one.
      let requests = 0;
      for (const { does, offsetMs, ms } of steps) {
        clock.advance(10_000);
        if (does === 'push') {
          for (const what of [`gone of ${requests},`, 'kept']) await push(what, clock.nowMs() + offsetMs!);
        }
        if (does === 'jump') clock.advance(ms!);
        if (does === 'jobs') await runJobs(process);
        if (does === 'delete') {
          const isNear = () => entries.some(one => Math.abs(one.ms - clock.nowMs()) < NEAR_MS);
          while (isNear()) clock.advance(NEAR_MS);
          const endMs = clock.nowMs();
          const numbers = Array.from({ length: ++requests }, (_, number) => number).join('|');
          const query = `{app="a"} |~ "gone of (${numbers}),"`;
          const gone = entries.filter(one => one.line.startsWith('gone') && one.ms < endMs);
          // Other entries are pushed in parallel with the request, with times that it covers.
          const [asked] = await Promise.all([
            fetchDeletes(process, 'POST', { query, start: seconds(START_MS - 16 * MS_PER_DAY) }),
            ...OFFSETS_MS.map(offset => push('kept beside', endMs + offset)),
          ]);
          expect(asked.status).toBe(204);
          for (const one of gone) one.isGone = true;
        }
        expect((await foundAround(process)).toSorted()).toEqual(shown());
      }
      for (let i = 0; i < 6; i++) {
        clock.advance(MS_PER_DAY / 2);
        await runJobs(process);
        expect((await foundAround(process)).toSorted()).toEqual(shown());
      }
      expect((await foundAround(startProcess(2))).toSorted()).toEqual(shown());
    }),
    { numRuns: bySuite({ fast: 10, full: 60 }) },
  );
});

const foundAround = (process: TestProcess) =>
  linesOf(process, TENANT, START_MS - 15 * MS_PER_DAY, START_MS + 15 * MS_PER_DAY);
