import { expect, test } from '@jest/globals';
import { forwardedTable } from '../../../local/threads/forwarded-table.ts';
import { errorOf, thrownOf } from '../../../local/threads/thrown-errors.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Write } from '../../../shared/base/ports/table.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';
import { tableContract } from '../../ports/table.contract.ts';

// Writes and errors as messages between threads leave them.
tableContract(
  'writes forwarded',
  async clock => {
    const table = memoryTable({ clock });
    const write = async (writes: readonly Write[]) => {
      const error = await table.transact(structuredClone(writes)).then(() => undefined, thrownOf);
      if (error !== undefined) throw errorOf(structuredClone(error));
    };
    return { table: forwardedTable(table, write) };
  },
  { rounds: 20 },
);

test('sends only the body if it is part of a larger buffer', async () => {
  const sent: Uint8Array[] = [];
  const table = forwardedTable(memoryTable({ clock: SYSTEM_CLOCK }), async ([write]) => {
    if (write.kind === 'put') sent.push(write.item.body);
  });
  const body = Buffer.alloc(100_000).subarray(10, 20);
  await table.put({ pk: 'p', sk: 's', version: 0, body });
  await table.transact([{ kind: 'put', item: { pk: 'p', sk: 's', version: 0, body } }]);
  expect(sent.map(({ length, buffer }) => [length, buffer.byteLength])).toEqual([
    [10, 10],
    [10, 10],
  ]);
});
