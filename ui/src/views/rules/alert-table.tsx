/** Active alerts of all rules. */
import type { ActiveAlert } from '../../api/rules.ts';
import { Chip, LabelChips } from '../../components/chip.tsx';
import { Moment } from '../../components/moment.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { quantityText } from '../../time/quantities.ts';
import { Annotations } from './rule-row.tsx';
import { momentOf } from './rules-model.ts';

const PAGE = 100;

export function AlertTable({ alerts }: { readonly alerts: readonly ActiveAlert[] }) {
  const paged = usePaged(alerts, PAGE);
  return (
    <section class="card panel" aria-label="Active alerts">
      <ScrollAcross name="Alerts">
        <table class="table alert-table">
          <thead>
            <tr>
              <th>State</th>
              <th>Alert</th>
              <th class="number">Value</th>
              <th class="number">Active since</th>
            </tr>
          </thead>
          <tbody>
            {paged.shown.map(({ labels: { alertname, ...labels }, ...alert }) => {
              const since = momentOf(alert.activeAt);
              return (
                <tr key={JSON.stringify([alertname, labels])}>
                  <td>
                    <Chip tone={alert.state === 'firing' ? 'error' : 'warn'}>
                      {alert.state === 'firing' ? 'Firing' : 'Pending'}
                    </Chip>
                  </td>
                  <td class="alert-what">
                    <strong>{alertname}</strong>
                    <Annotations annotations={alert.annotations} />
                    <LabelChips labels={labels} />
                  </td>
                  <td class="number">{quantityText(Number(alert.value))}</td>
                  <td class="number soft">{since !== undefined && <Moment ms={since} />}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollAcross>
      <More paged={paged} what="alerts" />
    </section>
  );
}
