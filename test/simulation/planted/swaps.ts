/** Bugs that are visible only if a transaction is seen in parts. */
import { Catalog, type CatalogParts } from '../../../shared/storage/catalog/catalog.ts';
import type { Day } from '../../../shared/storage/catalog/day-item.ts';
import type { Swap } from '../../../shared/storage/catalog/swap.ts';
import type { Bug } from './bug.ts';
import { swapAtOnce } from './one-transaction.ts';

class OneTransactionCatalog extends Catalog {
  readonly #of: CatalogParts;

  constructor(parts: CatalogParts) {
    super(parts);
    this.#of = parts;
  }

  override swap(swap: Swap): Promise<Day> {
    return swapAtOnce(this.#of, swap);
  }
}

export const swapsInOneTransaction: Bug = {
  name: 'swaps in one transaction',
  needsParts: true,
  maxSeeds: 600,
  knownSeed: 260,
  breaks: ['acknowledged-is-found', 'reads-one-version'],
  workCatalog: parts => new OneTransactionCatalog(parts),
};
