/** Formats the results of `logboom doctor` as text and as JSON. */

import { formatByteSize } from '../../shared/base/model/byte-size.ts';
import type { CheckTotals } from '../../shared/upkeep/integrity/check-store.ts';
import { adviceForProblem, type Problem } from '../../shared/upkeep/integrity/problem.ts';
import type { RebuildTotals } from '../../shared/upkeep/integrity/rebuild-catalog.ts';
import { countText, entriesText } from './count-text.ts';

export function problemText(problem: Problem): string {
  const { kind, where, message } = problem;
  return `${kind}  ${where}\n    ${message}\n    fix: ${adviceForProblem(problem)}\n`;
}

export function checkText(totals: CheckTotals, full: boolean): string {
  const { tenants, days, chunks, inlineChunks, rows, chunkBytes, objects, storedBytes, orphans, problems } =
    totals;
  const lines = [
    `${countText(tenants, 'tenant')}, ${countText(days, 'day')}, ${countText(chunks, 'chunk')} ` +
      `(${inlineChunks} inline), ${entriesText(rows)}, ${formatByteSize(chunkBytes)}: ${checkedText(totals, full)}`,
    `${countText(objects, 'object')}, ${formatByteSize(storedBytes)}`,
  ];
  if (orphans > 0) {
    const fate = problems === 0 ? ': deleted at an age of one day; not a problem' : '';
    lines.push(`${countText(orphans, 'object')} without a record${fate}`);
  }
  lines.push(problems === 0 ? 'sound' : countText(problems, 'problem'));
  return `${lines.join('\n')}\n`;
}

/** States only what was verified. */
function checkedText({ problems }: CheckTotals, full: boolean): string {
  const what = full ? 'checksums' : 'sizes and footers';
  if (problems > 0) return `${what} verified, except for the problems listed`;
  return full ? 'every checksum verified' : 'sizes and footers verified';
}

export function rebuildText(totals: RebuildTotals): string {
  const { days, added, kept, merged, recent, unreadable, replaced, busyDays } = totals;
  const lines = [
    `${countText(days, 'day')}: ${countText(added, 'record')} added, ${kept} kept, ${countText(merged, 'chunk')} ` +
      `skipped because others contain the same entries, ${unreadable} unreadable, ` +
      `${countText(replaced, 'record')} of missing objects removed`,
  ];
  if (recent > 0) {
    lines.push(
      `objects younger than 20 minutes, which may belong to pushes in progress: ${recent}; run it again ` +
        'later, or with --stopped if nothing else uses this store',
    );
  }
  if (busyDays > 0)
    lines.push(`${countText(busyDays, 'day')} skipped because of running compaction; run it again`);
  if (added > 0) {
    lines.push(
      'Small pushes that were not merged into an object existed only in the catalog, like delete requests and rules.',
      'If the catalog was lost, they are lost. Compare count_over_time by minute with the counts of',
      'your agents. Push again what is missing (equal entries are stored once), or restore the catalog',
      'from a backup and run this again.',
    );
  }
  return `${lines.join('\n')}\n`;
}

export function reportJson(
  problems: readonly Problem[],
  totals: { readonly check?: CheckTotals; readonly rebuild?: RebuildTotals },
): string {
  const listed = problems.map(problem => ({ ...problem, toDo: adviceForProblem(problem) }));
  return `${JSON.stringify({ problems: listed, ...totals }, undefined, 2)}\n`;
}
