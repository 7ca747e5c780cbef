/**
 * Requirements of every invoker, wherever its tasks run: this thread, worker threads, a function. The tasks
 * are those of real queries over one store, and a separate runner provides the expected results.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClientError } from '../../shared/base/model/errors.ts';
import type { Invoker } from '../../shared/base/ports/invoker.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import { decodeTaskAnswer } from '../../shared/read/query/tasks/answer-codec.ts';
import { decodeTask, encodeTask } from '../../shared/read/query/tasks/task-codec.ts';
import type { TaskRunnerParts } from '../../shared/read/query/tasks/task-runner.ts';
import { makeWorld, SMALL_TASKS } from '../query/tasks/world.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';

interface InvokerUnderTest {
  readonly invoker: Invoker;
  readonly close?: () => Promise<void>;
}

const QUERIES = [
  '{app=~".+"} |= "1"',
  '{app="a"} | logfmt | n > 3',
  'sum by (app, push) (count_over_time({app=~".+"} | logfmt [1m]))',
  'quantile_over_time(0.9, {app=~".+"} | logfmt | unwrap n [30s]) by (app)',
  'first_over_time({app="b"} | logfmt | unwrap n [1m])',
];
const RANGE = { endNs: DAY_START_NS + 120_000_000_000n, stepNs: 10_000_000_000n };
/** Incompressible lines: more than Lambda accepts or returns (6 MB, base64). */
const LARGE_LINES = 90;
const LARGE_LINE_BYTES = 60_000;

/**
 * @param store what the workers read; @param open the invoker over it
 */
export function invokerContract(
  name: string,
  makeStore: () => Promise<ObjectStore>,
  open: (parts: TaskRunnerParts) => Promise<InvokerUnderTest>,
): void {
  describe(`invoker contract: ${name}`, () => {
    let world: ReturnType<typeof makeWorld>;
    let underTest: InvokerUnderTest;
    let invoker: Invoker;
    let tasks: Uint8Array[];
    /** A task that requests all the large lines. */
    let large: Uint8Array;

    beforeAll(async () => {
      const store = await makeStore();
      world = makeWorld(undefined, store);
      for (let push = 0; push < 3; push++) {
        const entries = Array.from({ length: 20 }, (_, i) => ({
          stream: { app: i % 2 === 0 ? 'a' : 'b' },
          day: DAY,
          time: (push * 10 + i) * 1_000_000_000,
          line: `n=${i} push=${push % 2}`,
          metadata: { trace: `${i % 3}` },
        }));
        await world.push(entries);
      }
      const lines = Array.from({ length: LARGE_LINES }, (_, i) => ({
        stream: { app: 'large' },
        day: DAY,
        time: i * 1_000_000_000,
        line: randomBytes(LARGE_LINE_BYTES / 2).toString('hex'),
        metadata: {},
      }));
      await world.push(lines);
      world.delete('{app="a"} |= "n=4"');
      tasks = [];
      for (const query of QUERIES) tasks.push(...(await tasksOf(query)));
      const [first, ...others] = (await tasksOf('{app="large"}')).map(decodeTask);
      large = encodeTask({ ...first, pages: [first, ...others].flatMap(({ pages }) => pages) });
      underTest = await open({ store, clock: world.clock });
      invoker = underTest.invoker;
    });
    afterAll(async () => underTest.close?.());

    /** The tasks that a query is cut into. */
    async function tasksOf(query: string): Promise<Uint8Array[]> {
      const seen: Uint8Array[] = [];
      const runner = world.runner();
      const recording: Invoker = {
        slots: 1,
        invoke: (task, { signal }) => {
          seen.push(task);
          return runner.run(task, signal);
        },
        close: async () => undefined,
      };
      const engine = world.engine({ invoker: recording, sizes: SMALL_TASKS });
      await engine.range(rangeQuery(query, { ...RANGE, limit: 1000 }), requester());
      expect(seen.length).toBeGreaterThan(0);
      return seen;
    }

    const forever = new AbortController().signal;
    const ask = (task: Uint8Array, signal = forever) => invoker.invoke(task, { signal, affinity: 0 });
    /** Contents of a result, except for the worker and the read time. */
    const said = (bytes: Uint8Array) => {
      const { ranIn: _, ...answer } = decodeTaskAnswer(bytes);
      return { ...answer, figures: { ...answer.figures, downloadNs: 0 } };
    };
    const saidBeside = async (task: Uint8Array) => said(await world.runner().run(task, forever));

    test("returns the runner's result of each task, with more concurrent tasks than slots", async () => {
      expect(invoker.slots).toBeGreaterThan(0);
      const answers = await Promise.all(
        tasks.map((task, affinity) => invoker.invoke(task, { signal: forever, affinity })),
      );
      for (const [i, task] of tasks.entries()) expect(said(answers[i])).toEqual(await saidBeside(task));
    });

    test('leaves the bytes of the task as they are', async () => {
      const [task] = tasks;
      const before = Uint8Array.from(task);
      await ask(task);
      expect(Uint8Array.from(task)).toEqual(before);
    });

    test('gives an answer of any size, to a task of any size', async () => {
      const want = await saidBeside(large);
      expect(want.kind === 'log' && want.entries.length).toBe(LARGE_LINES);
      expect(said(await ask(large))).toEqual(want);
      // The chunk in its record, as one that is small would be.
      const task = decodeTask(large);
      const records = await Promise.all(
        task.records.map(async record => ({ ...record, inline: await wholeOf(world.objects, record.id) })),
      );
      const inline = encodeTask({ ...task, records });
      expect(inline.length).toBeGreaterThan(LARGE_LINES * LARGE_LINE_BYTES * 0.4);
      const { figures: _, ...answer } = said(await ask(inline));
      const { figures: __, ...expected } = want;
      expect(answer).toEqual(expected);
    });

    interface Change {
      readonly query?: string;
      readonly chunkId?: string;
      readonly page?: number;
    }
    test.each<[string, Change, string]>([
      ['a mistake of the client', { query: '{app=' }, 'ClientError 400'],
      ['an object that is gone', { chunkId: 'f'.repeat(32) }, 'ObjectNotFoundError'],
      ['a page that is not there', { page: 999 }, 'CorruptionError'],
    ])('%s comes as an answer, in its own words', async (_, { query, chunkId, page }, want) => {
      const task = decodeTask(tasks[0]);
      const { request: asked, records, pages } = task;
      const broken = encodeTask({
        ...task,
        request: { ...asked, query: query ?? asked.query },
        records: records.map(one =>
          chunkId === undefined ? one : { ...one, id: chunkId, footer: undefined },
        ),
        pages: pages.map(one => ({ ...one, page: page ?? one.page })),
      });
      const found = failureIn(await ask(broken));
      expect(found).toEqual(failureIn(await world.runner().run(broken, forever)));
      expect(found?.kind).toBe(want);
    });

    test('invalid bytes return the fault', async () => {
      const answer = await ask(Uint8Array.of(7));
      expect(() => decodeTaskAnswer(answer)).toThrow(/version 7/);
    });

    test('a canceled or late task rejects with the reason; the next task is not affected', async () => {
      for (const reason of [
        new Error('the client disconnected'),
        new DOMException('too late', 'TimeoutError'),
      ]) {
        const before = new AbortController();
        before.abort(reason);
        await expect(ask(large, before.signal)).rejects.toBe(reason);
        const during = new AbortController();
        const running = ask(large, during.signal);
        const beside = ask(tasks[0]);
        during.abort(reason);
        await expect(running).rejects.toBe(reason);
        expect(said(await beside)).toEqual(await saidBeside(tasks[0]));
      }
      expect(said(await ask(tasks[1]))).toEqual(await saidBeside(tasks[1]));
    });
  });
}

function failureIn(answer: Uint8Array): { readonly kind: string; readonly message: string } | undefined {
  try {
    decodeTaskAnswer(answer);
  } catch (error) {
    const { name, message } = error as Error;
    return { kind: error instanceof ClientError ? `ClientError ${error.status}` : name, message };
  }
  return undefined;
}

/** The only object of the chunk. */
async function wholeOf(store: ObjectStore, id: string): Promise<Buffer> {
  const { objects } = await store.list('');
  const { key } = objects.find(object => object.key.includes(id))!;
  return store.get(key);
}
