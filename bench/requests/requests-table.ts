/** Results of run-requests.ts as tables, with the default prices of shared/server/admin/prices.ts. */
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';
import { type Cell, formatTable } from '../table.ts';
import { NO_COUNTS, plus, priceOf, type RequestCounts } from './counts.ts';
import type { RequestFigures } from './run-requests.ts';

const MB = 1_000_000;
const GB = 1_000_000_000;
const PRICED_QUERIES = 1_000;

export function requestsTable(figures: RequestFigures): string {
  return [loadTable(figures), queriesTable(figures)].join('\n\n');
}

function loadTable({ rawBytes, lines, pushes, ingest, flush, start }: RequestFigures): string {
  const perGb = GB / rawBytes;
  const head = ['', 'a GB: PUTs', 'GETs', 'MB put', 'MB got', 'write units', 'read units', 'dollars'];
  const row = (name: string, counts: RequestCounts, factor: number): Cell[] => [
    name,
    (counts.objectPuts + counts.objectLists) * factor,
    (counts.objectGets + counts.objectHeads) * factor,
    (counts.objectWrittenBytes / MB) * factor,
    (counts.objectReadBytes / MB) * factor,
    counts.writeUnits * factor,
    counts.readUnits * factor,
    round(priceOf(counts, DEFAULT_PRICES) * factor),
  ];
  const rows = [
    row('pushes', ingest, perGb),
    row('merging and indexing', flush, perGb),
    row('start of a process, each', start, 1),
  ];
  const failures = ingest.failures + flush.failures;
  const told = `${rawBytes / MB} MB of lines, ${lines} lines in ${pushes} pushes; ${failures} requests failed`;
  return `${told}\n\n${formatTable(head, rows)}`;
}

function queriesTable({ queries }: RequestFigures): string {
  const head = ['query', ...headOf('cold'), 'second GETs', 'MB', ...headOf('warm')];
  const sum = (of: 'cold' | 'second' | 'warm') =>
    queries.reduce((total, query) => plus(total, query[of]), NO_COUNTS);
  const rows = [
    ...queries,
    { name: 'all of them', cold: sum('cold'), second: sum('second'), warm: sum('warm') },
  ];
  return formatTable(
    head,
    rows.map(({ name, cold, second, warm }) => [
      name,
      ...cellsOf(cold),
      ...cellsOf(second).slice(0, 2),
      ...cellsOf(warm),
    ]),
  );
}

function headOf(when: string): string[] {
  return [`${when} GETs`, 'MB', 'table reads', 'read units', '$/1000'];
}

/**
 * Cells of one query; the price of a thousand covers only reads, because writes are the process's heartbeat.
 */
function cellsOf(counts: RequestCounts): Cell[] {
  const reads = { ...counts, writeUnits: 0 };
  return [
    counts.objectGets + counts.objectHeads,
    counts.objectReadBytes / MB,
    counts.tableReads,
    counts.readUnits,
    round(priceOf(reads, DEFAULT_PRICES) * PRICED_QUERIES),
  ];
}

/** Dollars with two significant digits, without an exponent. */
function round(dollars: number): string {
  if (dollars === 0) return '0';
  const digits = Math.max(2, 1 - Math.floor(Math.log10(dollars)));
  return dollars.toFixed(digits);
}
