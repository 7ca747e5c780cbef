/** Assembles usage: observers, ledger and report. */

import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { UsageRecords } from '../../storage/catalog/usage-records.ts';
import type { IngestObserver } from '../../write/ingest/observer.ts';
import type { Metrics } from '../admin/metrics/metrics.ts';
import type { Prices } from '../admin/prices.ts';
import type { OnStored } from './observed-committer.ts';
import type { OnAnswered } from './observed-engine.ts';
import { StoredBytesByDay } from './stored-bytes.ts';
import { UsageLedger } from './usage-ledger.ts';
import { UsageReader } from './usage-report.ts';

export interface UsageServices {
  readonly ledger: UsageLedger;
  readonly reader: UsageReader;
  /** Observer of the push path, the committer and the query engine. It feeds the metrics too. */
  readonly observer: IngestObserver;
  readonly onStored: OnStored;
  readonly onAnswered: OnAnswered;
}

interface UsageParts {
  readonly records: UsageRecords;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly prices: Prices;
}

export function createUsage({ records, catalog, clock, ids, metrics, prices }: UsageParts): UsageServices {
  const { registry, ingest, lineLengths, queries } = metrics;
  const failures = registry.counter({
    name: 'logboom_usage_write_failures_total',
    help: 'Failed writes of usage; the next write includes their data.',
  });
  const drops = registry.counter({
    name: 'logboom_usage_dropped_total',
    help: 'Events missing in usage because of too many tenants.',
  });
  const ledger = new UsageLedger({
    records,
    clock,
    ids,
    onFailure: () => failures.inc(),
    onDrop: () => drops.inc(),
  });
  return {
    ledger,
    reader: new UsageReader({
      records,
      ledger,
      storedBytes: new StoredBytesByDay({ catalog, clock }),
      prices,
    }),
    observer: {
      received(event) {
        ingest.received(event);
        ledger.received(event);
      },
      refused(event) {
        ingest.refused(event);
        ledger.refused(event);
      },
      mutated: event => ingest.mutated(event),
    },
    onStored(tenant, push) {
      lineLengths.add(push);
      ledger.stored(tenant, push);
    },
    onAnswered(tenants, statistics, execNs, asked) {
      const bytes = statistics.compressedBytes / tenants.length;
      for (const tenant of tenants) queries.answered(tenant, bytes);
      queries.measured(asked, statistics, execNs);
      ledger.queried(tenants, statistics, execNs);
    },
  };
}
