import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { objectStoreContract } from './object-store.contract.ts';
import { tableContract } from './table.contract.ts';

objectStoreContract('memory', async () => ({ store: memoryObjectStore() }));
tableContract('memory', async clock => ({ table: memoryTable({ clock }) }));
