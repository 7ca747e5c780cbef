/** Commits of an ingest thread reach each live tail once, also if a tail is opened during the commit. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { committer } from '../../../local/threads/committer.ts';
import type { AskFront, SharedCount } from '../../../local/threads/role-messages.ts';
import { serveTablePort } from '../../../local/threads/table-port.ts';
import { virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { StorageUnavailableError } from '../../../shared/base/ports/storage-unavailable.ts';
import type { Write } from '../../../shared/base/ports/table.ts';

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** @param during called while the table thread commits */
function makeWorld(tailed: SharedCount, during: () => void = () => undefined) {
  const events: string[] = [];
  const ask: AskFront = async question => {
    if (question.kind === 'table-port') {
      const { port1, port2 } = new MessageChannel();
      serveTablePort(port2, async ({ writes }) => {
        during();
        events.push(`table ${textOf(writes)}`);
      });
      ports.push(port1, port2);
      return port1;
    }
    if (question.kind === 'write' || question.kind === 'committed')
      events.push(`${question.kind} ${textOf(question.writes)}`);
    return undefined;
  };
  return {
    events,
    commit: committer({
      ask,
      clock: virtualClock(0),
      tailed,
      onDiskProblem: problem => events.push(problem),
    }),
  };
}

const newCount = (): SharedCount => new Int32Array(new SharedArrayBuffer(4));
const put = (text: string): Write => ({
  kind: 'put',
  item: { pk: 'p', sk: text, version: 1, body: new TextEncoder().encode(text) },
});
const textOf = (writes: readonly Write[]) =>
  writes.map(one => (one.kind === 'put' ? Buffer.from(one.item.body).toString() : '')).join();

test('without live tails, the front takes no part', async () => {
  const { commit, events } = makeWorld(newCount());
  await commit([put('a')]);
  await commit([put('b')]);
  expect(events).toEqual(['table a', 'table b']);
});

test('with live tails, the front commits and relays', async () => {
  const tailed = newCount();
  tailed[0] = 1;
  const { commit, events } = makeWorld(tailed);
  await commit([put('a')]);
  tailed[0] = 0;
  await commit([put('b')]);
  expect(events).toEqual(['write a', 'table b']);
});

test('the front relays a commit during which a tail was opened, whatever the size of its bodies', async () => {
  const tailed = newCount();
  const { commit, events } = makeWorld(tailed, () => {
    tailed[0] = 1;
  });
  const large = 'x'.repeat(100_000);
  await commit([put(large)]);
  expect(events).toEqual([`table ${large}`, `committed ${large}`]);
});

// [what, error of the table thread, problem that the front hears of]
test.each([
  ['a full disk', new StorageUnavailableError('full'), ['full']],
  ['another error', new Error('no'), []],
])('a failed commit rejects: %s', async (_, error, problems) => {
  const { commit, events } = makeWorld(newCount(), () => {
    throw error;
  });
  await expect(commit([put('a')])).rejects.toThrow(error.message);
  expect(events).toEqual(problems);
});
