/** Usage by day, latest first, with a download. */
import type { Usage } from '../../api/usage.ts';
import { Button } from '../../components/button.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { bytesText, countText } from '../../time/quantities.ts';
import { moneyText, receivedBytes, refusedLines, usageCsv } from './usage-model.ts';

const PAGE = 7;

export function DaysTable({ usage }: { readonly usage: Usage }) {
  const paged = usePaged(usage.days.toReversed(), PAGE);
  return (
    <Panel
      title="By day"
      aside={
        <Button kind="quiet" class="small" icon="download" onClick={() => save(usage)}>
          CSV
        </Button>
      }
    >
      <ScrollAcross name="Usage by day">
        <table class="table">
          <thead>
            <tr>
              <th>UTC day</th>
              <th class="number">Lines</th>
              <th class="number">Received</th>
              <th class="number">Streams</th>
              <th class="number">Refused lines</th>
              <th class="number">Queries</th>
              <th class="number">Bytes read</th>
              <th class="number">Stored</th>
              <th class="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {paged.shown.map(day => (
              <tr key={day.day}>
                <td class="numeric">{day.day}</td>
                <td class="number">{countText(day.lines)}</td>
                <td class="number">{bytesText(receivedBytes(day))}</td>
                <td class="number">{countText(day.streams)}</td>
                <td class="number">{countText(refusedLines(day))}</td>
                <td class="number">{countText(day.queries)}</td>
                <td class="number">{bytesText(day.query_bytes)}</td>
                <td class="number">{bytesText(day.stored_bytes)}</td>
                <td class="number">{moneyText(day.cost.total, usage.currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollAcross>
      <More paged={paged} what="days" />
    </Panel>
  );
}

function save(usage: Usage): void {
  const url = URL.createObjectURL(new Blob([usageCsv(usage)], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `usage-${usage.tenant}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
