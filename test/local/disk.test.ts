/** The state of the disk of a data directory, derived from its errors. */
import { expect, test } from '@jest/globals';
import { CHECK_MS, Disk, type DiskPort, MAX_CHECK_MS } from '../../local/disk.ts';
import { asReadError, asStorageError, storageProblemOf } from '../../local/disk-errors.ts';
import { retryWhileBusy } from '../../local/sqlite-busy.ts';
import { errorOf, thrownOf } from '../../local/threads/thrown-errors.ts';
import { StorageUnavailableError } from '../../shared/base/ports/storage-unavailable.ts';
import { manualClock } from '../support/manual-clock.ts';

const MIB = 1024 * 1024;
const errorWith = (code: string) => Object.assign(new Error(code), { code });
const sqliteError = (errcode: number) =>
  Object.assign(new Error('sqlite'), { code: 'ERR_SQLITE_ERROR', errcode });

/** Writes of the reserve fail with `fails`, if it is set. */
function fakeDisk(freeBytes: number, totalBytes = 1000 * 1024 * MIB) {
  const state = {
    freeBytes,
    totalBytes,
    reserve: 0,
    fails: undefined as Error | undefined,
    writes: 0,
    looks: 0,
  };
  const port: DiskPort = {
    async space() {
      state.looks++;
      return { freeBytes: state.freeBytes, totalBytes: state.totalBytes };
    },
    hasReserve: async () => state.reserve > 0,
    async writeReserve(bytes) {
      state.writes++;
      if (state.fails !== undefined) throw state.fails;
      state.reserve = bytes;
      state.freeBytes -= bytes;
    },
    async removeReserve() {
      state.freeBytes += state.reserve;
      state.reserve = 0;
    },
  };
  const clock = manualClock();
  const disk = new Disk({ port, clock });
  const told: string[] = [];
  disk.setListener(problem => told.push(problem ?? 'ok'));
  return { state, disk, told, clock };
}

test('a disk with space takes entries, and keeps a reserve', async () => {
  const { state, disk, told } = fakeDisk(1000 * MIB);
  await disk.check();
  await disk.check();
  expect([disk.problem, disk.message, state.reserve, state.writes, told]).toEqual([
    undefined,
    undefined,
    MIB,
    1,
    [],
  ]);
});

test('with little space, the disk is full immediately and the reserve is released; with enough, it is kept again', async () => {
  const { state, disk, told } = fakeDisk(1000 * MIB);
  await disk.check();
  state.freeBytes = 63 * MIB;
  await disk.check();
  expect([disk.problem, state.reserve]).toEqual(['full', 0]);
  expect(disk.message).toMatch(/^the disk of the store is full/);
  state.freeBytes = 70 * MIB;
  await disk.check();
  expect(disk.problem).toBe('full');
  state.freeBytes = 200 * MIB;
  await disk.check();
  expect([disk.problem, state.reserve]).toEqual([undefined, MIB]);
  expect(told).toEqual(['full', 'ok']);
});

test('a twentieth of a small disk is enough', async () => {
  const { state, disk } = fakeDisk(10 * MIB, 20 * MIB);
  await disk.check();
  expect([disk.problem, state.reserve]).toEqual([undefined, MIB]);
  state.freeBytes = MIB - 1;
  await disk.check();
  expect(disk.problem).toBe('full');
});

// [error of a write, problem]
test.each<[Error, string | undefined]>([
  [errorWith('ENOSPC'), 'full'],
  [errorWith('EDQUOT'), 'full'],
  [errorWith('EROFS'), 'read-only'],
  [errorWith('EACCES'), 'read-only'],
  [errorWith('EPERM'), 'read-only'],
  [errorWith('EIO'), undefined],
  [errorWith('ENOENT'), undefined],
  [sqliteError(13), 'full'],
  [sqliteError(4874), 'full'],
  [sqliteError(8), 'read-only'],
  [sqliteError(14), 'read-only'],
  [sqliteError(778), undefined],
  [sqliteError(5), undefined],
  [new Error('wrapped', { cause: errorWith('ENOSPC') }), 'full'],
  [new Error('another'), undefined],
])('a write that fails with %s', async (error, problem) => {
  const { disk, state } = fakeDisk(1000 * MIB);
  await disk.check();
  disk.noteError(error);
  expect(disk.problem).toBe(problem);
  // The value comes from another thread.
  const other = fakeDisk(1000 * MIB).disk;
  other.noteError(errorOf(thrownOf(asStorageError(error))));
  expect(other.problem).toBe(problem);
  await Promise.resolve();
  expect(state.reserve).toBe(problem === 'full' ? 0 : MIB);
});

test('a quota: space is not seen, but that the reserve cannot be written; it is tried now and then', async () => {
  const { state, disk, told } = fakeDisk(1000 * MIB);
  await disk.check();
  state.fails = errorWith('EDQUOT');
  disk.noteError(errorWith('EDQUOT'));
  for (let looks = 0; looks < 20; looks++) await disk.check();
  expect(disk.problem).toBe('full');
  expect(state.writes).toBeLessThanOrEqual(1 + 5);
  state.fails = undefined;
  for (let looks = 0; looks < 10; looks++) await disk.check();
  expect([disk.problem, told]).toEqual([undefined, ['full', 'ok']]);
});

test('a folder that cannot be written at the first look', async () => {
  const { state, disk } = fakeDisk(1000 * MIB);
  state.fails = errorWith('EROFS');
  await disk.check();
  expect(disk.problem).toBe('read-only');
  state.fails = undefined;
  for (let looks = 0; looks < 10; looks++) await disk.check();
  expect(disk.problem).toBeUndefined();
});

test('an error unrelated to the disk changes nothing', async () => {
  const { state, disk } = fakeDisk(1000 * MIB);
  state.fails = errorWith('EMFILE');
  await disk.check();
  expect(disk.problem).toBeUndefined();
});

test('circular causes of errors, and values that are not errors', () => {
  const circle = new Error('circle');
  circle.cause = circle;
  expect(storageProblemOf(circle)).toBeUndefined();
  for (const nothing of [undefined, null, 'ENOSPC', 13]) expect(storageProblemOf(nothing)).toBeUndefined();
  const unavailable = new StorageUnavailableError('full');
  expect(asStorageError(unavailable)).toBe(unavailable);
  expect(asStorageError(errorWith('ENOENT'))).toMatchObject({ message: 'ENOENT' });
});

test('reads fail with the reason if the disk fails, and with their own error otherwise', async () => {
  expect(asReadError(errorWith('EIO'))).toMatchObject({ problem: 'failing' });
  for (const code of ['EACCES', 'ENOSPC', 'EROFS', 'EMFILE']) {
    expect(asReadError(errorWith(code))).toMatchObject({ message: code });
  }
  const ofTable = (errcode: number) =>
    retryWhileBusy(() => {
      throw sqliteError(errcode);
    });
  // A read that failed (SQLITE_IOERR_READ), and one of a file that cannot be opened.
  await expect(ofTable(266)).rejects.toMatchObject({ problem: 'failing' });
  await expect(ofTable(14)).rejects.toThrow('sqlite');
});

/** Looks at the disk within a minute, one after another second. */
async function looksInAMinute({ state, clock }: ReturnType<typeof fakeDisk>): Promise<number> {
  const before = state.looks;
  for (let second = 0; second < 60; second++) {
    clock.advance(1000);
    await new Promise(resolve => setImmediate(resolve));
  }
  return state.looks - before;
}

test.each([
  ['little space', 1000 * MIB, 60_000 / CHECK_MS],
  // 63 GB last for 16 s at the speed of the fastest disk.
  ['some space', 60_000 * MIB, 3],
  ['much space', 500_000 * MIB, 60_000 / MAX_CHECK_MS],
])('the disk is looked at more rarely the longer its space lasts: %s', async (_name, freeBytes, looks) => {
  const fake = fakeDisk(freeBytes);
  await fake.disk.check();
  const stop = new AbortController();
  const watching = fake.disk.watch(stop.signal);
  expect(await looksInAMinute(fake)).toBe(looks);
  stop.abort();
  await watching;
});

test('after a failed write the disk is checked often, with any free space', async () => {
  const fake = fakeDisk(500_000 * MIB);
  await fake.disk.check();
  const stop = new AbortController();
  const watching = fake.disk.watch(stop.signal);
  fake.state.fails = errorWith('EDQUOT');
  fake.disk.noteError(errorWith('EDQUOT'));
  expect(await looksInAMinute(fake)).toBe(60_000 / CHECK_MS - 1);
  fake.state.fails = undefined;
  await looksInAMinute(fake);
  expect(fake.disk.problem).toBeUndefined();
  expect(await looksInAMinute(fake)).toBe(60_000 / MAX_CHECK_MS);
  stop.abort();
  await watching;
});
