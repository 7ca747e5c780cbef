/** The thread that commits to the table: the first chunk of the tenant `ends-table` ends it. */
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import '../../../../local/threads/table-thread.ts';
import type { ToThread } from '../../../../local/threads/messages.ts';
import type { PortWrite } from '../../../../local/threads/table-port.ts';
import type { TableCall, TableThreadData } from '../../../../local/threads/table-thread.ts';
import type { Write } from '../../../../shared/base/ports/table.ts';
import { faultText, makeFault } from './faults.ts';

const file = join(dirname((workerData as TableThreadData).file), 'table-ended');

parentPort!.on('message', (message: ToThread<TableCall>) => {
  if (message.kind !== 'call') return;
  const { call } = message;
  if (call.kind === 'write') endOf(call.writes);
  else if (call.kind === 'connect') call.port.on('message', ({ writes }: PortWrite) => endOf(writes));
});

function endOf(writes: readonly Write[]): void {
  const isOfTenant = writes.some(one => one.kind === 'put' && one.item.pk.startsWith('c/ends-table/'));
  if (isOfTenant) makeFault(faultText('exits', file));
}
