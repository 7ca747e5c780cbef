import { describe, expect, test } from '@jest/globals';
import { MemoryBudget } from '../../shared/metrics/memory-budget.ts';
import { BadRequestError } from '../../shared/model/errors.ts';
import { labelsOf } from '../../shared/model/labels.ts';
import type { PipelineRow } from '../../shared/pipeline/pipeline.ts';
import { LogCollector } from '../../shared/query/log-collector.ts';
import { makePage } from '../pipeline/support.ts';

const page = makePage(Array.from({ length: 1000 }, () => ({ line: 'l' })));
const rowOf = (line: string) =>
  ({
    line: () => line,
    labels: () => labelsOf({ app: 'x' }),
    labelText: () => '{app="x"}',
    streamText: () => '{app="x"}',
    categories: () => ({
      stream: labelsOf({ app: 'x' }),
      structuredMetadata: [],
      parsed: labelsOf({ a: line }),
    }),
  }) as unknown as PipelineRow;

describe('the memory that entries take', () => {
  test.each([false, true])('is refused beyond the budget, categorised %s', categorize => {
    const budget = new MemoryBudget(100_000, 'lowering the limit');
    const collector = new LogCollector(100, false, categorize, budget);
    collector.begin(page, 0);
    const emitAll = () => {
      for (let row = 0; row < 20; row++) collector.emit(row, rowOf('x'.repeat(10_000)));
    };
    expect(emitAll).toThrow(BadRequestError);
    expect(emitAll).toThrow('or lowering the limit');
  });

  test('is free again where entries fall out', () => {
    const budget = new MemoryBudget(100_000, 'lowering the limit');
    const collector = new LogCollector(5, true, false, budget);
    collector.begin(page, 0);
    for (let row = 0; row < 1000; row++) {
      collector.emit(row, rowOf('x'.repeat(1000)));
      collector.settle();
    }
    expect(collector.finish()).toHaveLength(5);
    expect(budget.usedBytes).toBeGreaterThan(5000);
    expect(budget.usedBytes).toBeLessThan(6000);
  });
});
