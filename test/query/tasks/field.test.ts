/** Query that needs one field: its tasks read columns, like the query itself. */
import { expect, test } from '@jest/globals';
import { ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import { EVERY_FIELD } from '../../../shared/read/query/every-field-scan.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { columnEngine, everyField } from '../../insight/detected/column-engine.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';

/** The entries of the answer of an engine with tasks; those of one without are the same. */
async function entriesByTasks(lines: readonly string[], field: string) {
  const entries = lines.map((line, i) => {
    return { stream: { app: 'a' }, day: DAY, time: i * 1e9, line, metadata: {} };
  });
  const sourceOf = (store: ConstructorParameters<typeof ChunkSource>[0]) => new ChunkSource(store);
  const parts = { indexer: everyField(), sourceOf, chunks: lines.length };
  let tasks = 0;
  const invokerOf: NonNullable<Parameters<typeof columnEngine>[1]['invokerOf']> = runnerParts => {
    const invoker = inlineInvoker(runnerParts);
    return {
      ...invoker,
      invoke: (...given) => {
        tasks++;
        return invoker.invoke(...given);
      },
    };
  };
  const asked = { ...rangeQuery('{app="a"}', { limit: 10, categorize: true }), field };
  const answers = [];
  for (const engine of [
    await columnEngine(entries, parts),
    await columnEngine(entries, { ...parts, invokerOf }),
  ]) {
    const { result } = await engine.range(asked, requester());
    if (result.kind !== 'streams') throw new Error('not a log query');
    answers.push(result.streams.flatMap(stream => stream.entries));
  }
  expect(tasks).toBe(lines.length);
  expect(answers[1]).toEqual(answers[0]);
  return answers[1];
}

test('a task with one field returns no lines if a column has the field', async () => {
  const lines = ['{"status":200}', '{"status":404,"status":405}', '{"status":500}'];
  const answer = await entriesByTasks(lines, 'status');
  // A line that no column knows is there as it is.
  expect(answer.map(({ line }) => line).sort()).toEqual(['', '', lines[1]]);
  expect(
    answer
      .flatMap(({ parsed = [] }) => parsed)
      .map(({ value }) => value)
      .sort(),
  ).toEqual(['200', '500']);
});

test('a task with all fields returns lines that contain only their fields', async () => {
  const answer = await entriesByTasks(
    ['{"status": 200, "tags": [1]}', 'words a=1', '{"status":'],
    EVERY_FIELD,
  );
  expect(answer.map(({ line }) => line)).toEqual(['{"status":', 'a="1"', '{"status":"200"}']);
});
