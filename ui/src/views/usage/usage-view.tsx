/** Usage of the tenant by day, its cost, and its limits. */
import { useMemo, useState } from 'preact/hooks';
import { knownAccess } from '../../api/known-access.ts';
import { fetchUsage, type Usage } from '../../api/usage.ts';
import { useRequest } from '../../api/use-request.ts';
import { Choice } from '../../components/choice.tsx';
import { DayBars } from '../../components/day-bars.tsx';
import { Figures } from '../../components/figures.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { Panel, PanelPage } from '../../components/panel-page.tsx';
import { changeParams, route } from '../../state/navigation.ts';
import { useStore } from '../../state/use-store.ts';
import { bytesText, countText, shortText } from '../../time/quantities.ts';
import { DaysTable } from './days-table.tsx';
import { LimitsPanel } from './limits-panel.tsx';
import { TenantsPanel } from './tenants-panel.tsx';
import {
  costSeries,
  DAY_COUNTS,
  dayCountOf,
  lastDays,
  moneyText,
  monthlyCost,
  receivedSeries,
  refusedSeries,
  sumsOf,
} from './usage-model.ts';

export default function UsageView() {
  const { params } = useStore(route);
  const dayCount = dayCountOf(params.days);
  const [round, setRound] = useState(0);
  // Each run uses the current time.
  const range = useMemo(() => lastDays(dayCount, Date.now()), [dayCount, round]);
  const { value, error, loading } = useRequest(signal => fetchUsage(range, { signal }), [range]);
  const access = useStore(knownAccess);
  const hasTenants = access === undefined || access.authEnabled || access.tokensEnabled;
  const reload = useMemo(() => () => setRound(count => count + 1), []);
  return (
    <PanelPage
      title="Usage"
      about={
        value === undefined || !hasTenants
          ? 'Ingested, stored, and queried data, by UTC day'
          : `Tenant ${value.tenant}, by UTC day`
      }
      onReload={reload}
      tools={
        <Choice
          name="Days"
          value={String(dayCount)}
          onChange={days => changeParams({ days: days === '30' ? '' : days })}
          options={DAY_COUNTS.map(count => ({ value: String(count), label: `${count} days` }))}
        />
      }
    >
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading usage" />}
      {value !== undefined && (
        <div class={`usage-parts ${loading ? 'stale' : ''}`} aria-busy={loading}>
          <Charts usage={value} />
          <DaysTable key={dayCount} usage={value} />
        </div>
      )}
      {error === undefined && <TenantsPanel range={range} dayCount={dayCount} />}
      <LimitsPanel />
    </PanelPage>
  );
}

function Charts({ usage }: { readonly usage: Usage }) {
  const { days, currency } = usage;
  const sums = sumsOf(days);
  const names = days.map(({ day }) => day);
  const money = (amount: number) => moneyText(amount, currency);
  const refused = refusedSeries(days);
  const monthly = monthlyCost(days, Date.now());
  return (
    <>
      <Figures
        figures={[
          { name: 'Cost', value: money(sums.cost), note: `${money(monthly)} in 30 days at this rate` },
          {
            name: 'Received',
            value: bytesText(sums.bytes),
            note: sums.lines === 1 ? '1 line' : `${countText(sums.lines)} lines`,
          },
          {
            name: 'Stored',
            value: `${usage.stored_bytes_complete ? '' : '≥ '}${bytesText(sums.storedBytes)}`,
            note: sums.bytes > 0 ? 'now' : undefined,
          },
          { name: 'Queries', value: countText(sums.queries), note: `${bytesText(sums.queryBytes)} read` },
          {
            name: 'Refused',
            value: sums.refusedLines === 1 ? '1 line' : `${shortText(sums.refusedLines)} lines`,
            tone: sums.refusedLines > 0 ? 'warn' : undefined,
            note: sums.refusedLines > 0 ? 'see reasons below' : 'no lines refused',
          },
        ]}
      />
      <div class="usage-charts">
        <Panel title="Cost" aside="estimate of the cost model">
          <DayBars name="Cost by day" days={names} series={costSeries(days)} valueText={money} />
        </Panel>
        <Panel title="Received">
          <DayBars
            name="Bytes received by day"
            days={names}
            series={receivedSeries(days)}
            valueText={bytesText}
          />
        </Panel>
        <Panel title="Stored">
          <DayBars
            name="Bytes stored by day"
            days={names}
            series={[{ name: 'Stored', color: '--series-3', values: days.map(day => day.stored_bytes) }]}
            valueText={bytesText}
          />
        </Panel>
        <Panel title="Queries">
          <DayBars
            name="Queries by day"
            days={names}
            series={[{ name: 'Queries', color: '--series-2', values: days.map(day => day.queries) }]}
            valueText={countText}
          />
        </Panel>
        {refused.length > 0 && (
          <Panel title="Refused lines" class="whole">
            <DayBars name="Lines refused by day" days={names} series={refused} valueText={countText} />
          </Panel>
        )}
      </div>
    </>
  );
}
