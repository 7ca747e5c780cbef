/** Commits that threads send to the table thread without the front thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { forwardedTable } from '../../../local/threads/forwarded-table.ts';
import { openThreadTable } from '../../../local/threads/table-client.ts';
import {
  MAX_PENDING_COMMITS,
  type PortWrite,
  serveTablePort,
  TablePort,
} from '../../../local/threads/table-port.ts';
import { virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import { ConditionFailedError, type Write } from '../../../shared/base/ports/table.ts';
import { ThrottledError } from '../../../shared/base/ports/throttled.ts';
import { tableContract } from '../../ports/table.contract.ts';
import { tablesOfAFile } from '../../support/tables-of-a-file.ts';

const clock = virtualClock(1_000);
const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** A table whose commits go through a port, and the ports on the side of the table thread, newest last. */
function makeWorld(commit?: (write: PortWrite) => Promise<void>, table = memoryTable({ clock })) {
  const served: MessagePort[] = [];
  let isRestarting = false;
  const port = new TablePort({
    clock,
    connect: async () => {
      if (isRestarting) throw new Error('restarting');
      const { port1, port2 } = new MessageChannel();
      serveTablePort(port2, commit ?? (({ writes }) => table.transact(writes)));
      served.push(port2);
      ports.push(port1, port2);
      return port1;
    },
  });
  return {
    port,
    table,
    served,
    setRestarting: (is: boolean) => {
      isRestarting = is;
    },
  };
}

const put = (sk: string): Write => ({
  kind: 'put',
  item: { pk: 'p', sk, version: 1, body: Buffer.from(sk) },
});

tableContract(
  'commits through a port',
  tablesOfAFile(async (file, options) => {
    const table = await openThreadTable(file, options);
    const port = new TablePort({ connect: () => table.connect(), clock: options.clock });
    return { ...table, ...forwardedTable(table, writes => port.write(writes)) };
  }),
  { rounds: 20 },
);

test('resolves after the commit, and rejects with the class and the index of a failed condition', async () => {
  const { port, table, served } = makeWorld();
  await Promise.all(['a', 'b', 'c'].map(sk => port.write([put(sk)])));
  expect((await table.query('p')).items.map(({ sk }) => sk)).toEqual(['a', 'b', 'c']);
  const again: Write = { ...put('a'), condition: { kind: 'absent' } } as Write;
  const failed = port.write([put('d'), again]);
  await expect(failed).rejects.toBeInstanceOf(ConditionFailedError);
  await expect(failed).rejects.toMatchObject({ index: 1 });
  expect((await table.query('p')).items).toHaveLength(3);
  expect(served).toHaveLength(1);
});

test('a commit carries the time of its thread', async () => {
  const times: number[] = [];
  const { port } = makeWorld(async ({ nowMs }) => void times.push(nowMs));
  await port.write([put('a')]);
  await clock.advance(500);
  await port.write([put('b')]);
  expect(times[1] - times[0]).toBe(500);
});

test('when the table thread is lost, pending commits fail with 503 and the next one connects again', async () => {
  const { port, served, table } = makeWorld();
  await port.write([put('a')]);
  const pending = port.write([put('b')]);
  served[0].close();
  await expect(pending).rejects.toMatchObject({ status: 503 });
  await port.write([put('c')]);
  expect(served).toHaveLength(2);
  expect((await table.get({ pk: 'p', sk: 'c' }))!.version).toBe(1);
});

test('a commit while the table thread restarts fails, and a later one is stored', async () => {
  const { port, table, setRestarting } = makeWorld();
  setRestarting(true);
  await expect(port.write([put('a')])).rejects.toThrow('restarting');
  setRestarting(false);
  await port.write([put('a')]);
  expect((await table.query('p')).items).toHaveLength(1);
});

test('the number of pending commits is limited', async () => {
  const { port, served } = makeWorld(() => new Promise(() => undefined));
  const pending = Array.from({ length: MAX_PENDING_COMMITS }, () => port.write([]));
  const outcomes = Promise.allSettled(pending);
  await expect(port.write([])).rejects.toBeInstanceOf(ThrottledError);
  served[0].close();
  expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
});
