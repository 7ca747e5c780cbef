/**
 * Status of the store and of the serving process. Each part loads separately, so that a forbidden one hides
 * no other.
 */
import { useCallback, useState } from 'preact/hooks';
import { PanelPage } from '../../components/panel-page.tsx';
import { useEvery } from '../../state/use-every.ts';
import { ConfigPanel } from './config-panel.tsx';
import { HealthPanel, ServicesPanel } from './health-panel.tsx';
import { MaintenancePanel } from './maintenance-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { MetricsPanel } from './metrics-panel.tsx';

/** Refresh interval; a refresh sends about a dozen small requests. */
const REFRESH_MS = 15_000;
/**
 * Refresh interval of expensive parts. Metrics of many tenants are megabytes, and the maintenance backlog is
 * counted in the table.
 */
const COSTLY_REFRESH_MS = 60_000;

export default function StatusView() {
  const [round, setRound] = useState(0);
  const [costlyRound, setCostlyRound] = useState(0);
  const reload = useCallback(() => {
    setRound(count => count + 1);
    setCostlyRound(count => count + 1);
  }, []);
  useEvery(REFRESH_MS, () => setRound(count => count + 1));
  useEvery(COSTLY_REFRESH_MS, () => setCostlyRound(count => count + 1));
  return (
    <PanelPage title="Status" about="This process and the store" onReload={reload}>
      <div class="status-top">
        <HealthPanel round={round} />
        <ServicesPanel round={round} />
      </div>
      <MetricsPanel round={costlyRound} />
      <MaintenancePanel round={costlyRound} />
      <MembersPanel round={round} />
      <ConfigPanel />
    </PanelPage>
  );
}
