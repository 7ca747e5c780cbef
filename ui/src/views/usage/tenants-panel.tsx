/** Tenants that this browser or the token knows, side by side. Empty if there is only one. */

import { type ApiError, isAbort } from '../../api/errors.ts';
import { knownAccess } from '../../api/known-access.ts';
import type { MsRange } from '../../api/queries.ts';
import { currentTenant } from '../../api/session.ts';
import { fetchUsage, type Usage } from '../../api/usage.ts';
import { useRequest } from '../../api/use-request.ts';
import { Loading } from '../../components/message.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { ScrollAcross } from '../../components/scroll-across.tsx';
import { hrefOf } from '../../state/navigation.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { bytesText, countText } from '../../time/quantities.ts';
import { moneyText, sumsOf } from './usage-model.ts';

/** Maximum number of tenants, with one request each. */
const MAX_TENANTS = 20;

interface TenantUsage {
  readonly tenant: string;
  readonly usage: Usage | undefined;
  readonly problem: string;
}

export function TenantsPanel({ range, dayCount }: { readonly range: MsRange; readonly dayCount: number }) {
  const { tenants } = useStore(settings);
  const granted = useStore(knownAccess);
  const named = (granted?.tenants ?? []).filter(name => name !== '*');
  // Requests for other tenants would be refused for this token.
  const others = granted?.tokensEnabled && !granted.tenants.includes('*') ? [] : tenants;
  const current = currentTenant();
  const known = [...new Set([current, ...named, ...others])]
    .filter(name => name !== '')
    .slice(0, MAX_TENANTS);
  const key = known.join('|');
  const asked = useRequest(signal => fetchAll(known, range, signal), [key, range]);
  if (known.length < 2) return null;
  const rows = (asked.value ?? []).toSorted((a, b) => costOf(b) - costOf(a));
  return (
    <Panel title="Tenants" aside={`${dayCount} days; tenants known to this browser`}>
      {asked.value === undefined ? (
        <Loading what="Loading usage of each tenant" />
      ) : (
        <ScrollAcross name="Usage by tenant">
          <table class="table">
            <thead>
              <tr>
                <th>Tenant</th>
                <th class="number">Lines</th>
                <th class="number">Received</th>
                <th class="number">Stored</th>
                <th class="number">Queries</th>
                <th class="number">Cost</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(row => (
                <TenantRow
                  key={row.tenant}
                  row={row}
                  isCurrent={row.tenant === current}
                  dayCount={dayCount}
                />
              ))}
            </tbody>
          </table>
        </ScrollAcross>
      )}
    </Panel>
  );
}

interface TenantRowProps {
  readonly row: TenantUsage;
  readonly isCurrent: boolean;
  readonly dayCount: number;
}

function TenantRow({ row: { tenant, usage, problem }, isCurrent, dayCount }: TenantRowProps) {
  const name = isCurrent ? (
    <strong>{tenant}</strong>
  ) : (
    <a href={hrefOf('usage', { tenant, days: String(dayCount) })}>{tenant}</a>
  );
  if (usage === undefined) {
    return (
      <tr>
        <td>{name}</td>
        <td class="soft" colSpan={5}>
          {problem}
        </td>
      </tr>
    );
  }
  const sums = sumsOf(usage.days);
  return (
    <tr>
      <td>{name}</td>
      <td class="number">{countText(sums.lines)}</td>
      <td class="number">{bytesText(sums.bytes)}</td>
      <td class="number">{bytesText(sums.storedBytes)}</td>
      <td class="number">{countText(sums.queries)}</td>
      <td class="number">{moneyText(sums.cost, usage.currency)}</td>
    </tr>
  );
}

function costOf({ usage }: TenantUsage): number {
  return usage === undefined ? -1 : sumsOf(usage.days).cost;
}

/** One request after the other, to leave the store to other users. */
async function fetchAll(
  tenants: readonly string[],
  range: MsRange,
  signal: AbortSignal,
): Promise<readonly TenantUsage[]> {
  if (tenants.length < 2) return [];
  const answers: TenantUsage[] = [];
  for (const tenant of tenants) {
    try {
      answers.push({ tenant, usage: await fetchUsage(range, { tenant, signal }), problem: '' });
    } catch (error) {
      if (isAbort(error)) throw error;
      answers.push({ tenant, usage: undefined, problem: (error as ApiError).message });
    }
  }
  return answers;
}
