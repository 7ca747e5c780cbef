/** Formats the results of `logboom doctor` as text and as JSON. */

import { formatByteSize } from '../../shared/base/model/byte-size.ts';
import type { CheckTotals } from '../../shared/upkeep/integrity/check-store.ts';
import { adviceFor, type Problem } from '../../shared/upkeep/integrity/problem.ts';
import type { RebuildTotals } from '../../shared/upkeep/integrity/rebuild-catalog.ts';

export function problemText(problem: Problem): string {
  const { kind, where, message } = problem;
  return `${kind}  ${where}\n    ${message}\n    to do: ${adviceFor(problem)}\n`;
}

export function checkText(totals: CheckTotals, full: boolean): string {
  const { tenants, days, chunks, inlineChunks, rows, chunkBytes, objects, storedBytes, orphans, problems } =
    totals;
  const lines = [
    `${tenants} tenants, ${days} days, ${chunks} chunks (${inlineChunks} inline), ${rows} entries, ` +
      `${formatByteSize(chunkBytes)}: ${checkedText(totals, full)}`,
    `${objects} objects, ${formatByteSize(storedBytes)}`,
  ];
  if (orphans > 0) {
    lines.push(
      problems === 0
        ? `${orphans} objects without a record: collected when they are a day old, no problem by themselves`
        : `${orphans} objects without a record`,
    );
  }
  lines.push(problems === 0 ? 'sound' : `${problems} problems`);
  return `${lines.join('\n')}\n`;
}

/** States only what was verified. */
function checkedText({ problems }: CheckTotals, full: boolean): string {
  const what = full ? 'checksums' : 'sizes and footers';
  if (problems > 0) return `${what} verified but for the problems`;
  return full ? 'every checksum verified' : 'sizes and footers verified';
}

export function rebuildText(totals: RebuildTotals): string {
  const { days, added, kept, merged, recent, unreadable, replaced, busyDays } = totals;
  const lines = [
    `${days} days: ${added} records added, ${kept} kept, ${merged} chunks left out because others hold ` +
      `their entries, ${unreadable} unreadable, ${replaced} records of missing objects removed`,
  ];
  if (recent > 0) {
    lines.push(
      `${recent} objects are younger than 20 minutes and left to the pushes that may be writing them: run it again ` +
        'later, or with --stopped where nothing else runs on this store',
    );
  }
  if (busyDays > 0) lines.push(`${busyDays} days left as they were: compaction works on them; run it again`);
  if (added > 0) {
    lines.push(
      'Small pushes that no merge had packed into an object lay in the catalog alone, delete requests and rules too: where',
      'the catalog was lost they are gone. Nothing in the store tells which: compare count_over_time by minute with',
      "your shippers' own counts, push again what is missing (equal entries are stored once), or restore the catalog",
      'from a backup and run this again.',
    );
  }
  return `${lines.join('\n')}\n`;
}

export function reportJson(
  problems: readonly Problem[],
  totals: { readonly check?: CheckTotals; readonly rebuild?: RebuildTotals },
): string {
  const listed = problems.map(problem => ({ ...problem, toDo: adviceFor(problem) }));
  return `${JSON.stringify({ problems: listed, ...totals }, undefined, 2)}\n`;
}
