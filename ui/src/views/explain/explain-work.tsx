/** Execution of a query: its processing, where it ran, and its result. */
import type { ExplainedAnswer } from '../../api/explain.ts';
import type { Explained } from '../../api/types.ts';
import { bytesText, countText, secondsText } from '../../time/quantities.ts';

export function ExplainWork({ answer }: { readonly answer: ExplainedAnswer }) {
  const { stats, explain, resultType } = answer;
  const { summary } = stats;
  const seconds = summary.execTime;
  const figures: readonly (readonly [string, string, string?])[] = [
    ['Time', secondsText(seconds), 'in the store'],
    ['Lines searched', countText(summary.totalLinesProcessed)],
    ['Matching lines', countText(summary.totalPostFilterLines ?? 0), passedText(summary)],
    [
      'Decompressed',
      bytesText(summary.totalBytesProcessed),
      seconds > 0 ? `${bytesText(summary.totalBytesProcessed / seconds)} per second` : undefined,
    ],
    ...(resultType === 'streams'
      ? [['Lines returned', countText(summary.totalEntriesReturned)] as const]
      : []),
    ['Streams', countText(stats.index?.totalStreams ?? 0)],
    [
      'Text indexes read',
      countText(explain?.textFilters?.reads ?? 0),
      bytesText(explain?.textFilters?.bytes ?? 0),
    ],
    ['Duplicates removed', countText(stats.store?.totalDuplicates ?? 0), 'lines that are in several chunks'],
    ...(explain?.ranIn === undefined ? [] : [['Ran in', explain.ranIn, tasksText(explain)] as const]),
  ];
  return (
    <section class="card explain-work" aria-label="Execution">
      <dl>
        {figures.map(([name, value, note]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="numeric">{value}</dd>
            {note !== undefined && <dd class="soft numeric">{note}</dd>}
          </div>
        ))}
      </dl>
    </section>
  );
}

/** For example `tasks: query-0 3, query-1 4`. */
function tasksText({ tasks = {} }: Explained): string | undefined {
  const workers = Object.entries(tasks);
  if (workers.length === 0) return undefined;
  return `tasks: ${workers.map(([worker, count]) => `${worker} ${countText(count)}`).join(', ')}`;
}

function passedText(summary: ExplainedAnswer['stats']['summary']): string | undefined {
  const { totalLinesProcessed, totalPostFilterLines = 0 } = summary;
  if (totalLinesProcessed === 0) return undefined;
  return `${Math.round((totalPostFilterLines / totalLinesProcessed) * 100)}% of those searched`;
}
