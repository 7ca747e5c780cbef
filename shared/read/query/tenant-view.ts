/**
 * Shows one tenant of a query over several (docs/dev/wire-format.md#queries-over-several-tenants). Its
 * streams get the label `__tenant_id__`. A stored label of that name is shown as `original___tenant_id__`.
 * Matchers on the two names select tenants and the stored label. A query over a single tenant sees everything
 * as stored.
 */

import { formatLabels, type Labels, labelsOf } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import { NO_TENANT } from '../../base/model/tenant-id.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import { compileMatcher } from '../../language/logql/matcher.ts';

export const TENANT_LABEL = '__tenant_id__';
const ORIGINAL_TENANT_LABEL = 'original___tenant_id__';

export interface TenantView {
  readonly tenant: string;
  /** Whether the streams have the tenant's name as a label. */
  readonly isLabeled: boolean;
  /** Returns the selector for stored labels. */
  storedMatchers(matchers: readonly Matcher[]): readonly Matcher[];
  /** Returns the stream as the query sees it, the same object for the same stream. */
  shown(stream: Stream): Stream;
}

/** Returns views of the tenants that a selector matches. */
export function tenantViews(tenants: readonly string[], selector: readonly Matcher[]): TenantView[] {
  if (tenants.length === 1) return [plainView(tenants[0])];
  const accepts = selector.filter(matcher => matcher.name === TENANT_LABEL).map(compileMatcher);
  return named(tenants)
    .filter(tenant => accepts.every(accept => accept(tenant)))
    .map(labeledView);
}

/** Removes the empty tenant, which a query may name and which has no data. */
export function named(tenants: readonly string[]): readonly string[] {
  return tenants.filter(tenant => tenant !== NO_TENANT);
}

export function plainView(tenant: string): TenantView {
  return { tenant, isLabeled: false, storedMatchers: matchers => matchers, shown: stream => stream };
}

/** View of one of several tenants. */
export function labeledView(tenant: string): TenantView {
  const shown = new Map<Stream, Stream>();
  return {
    tenant,
    isLabeled: true,
    storedMatchers: matchers =>
      matchers
        .filter(matcher => matcher.name !== TENANT_LABEL)
        .map(matcher =>
          matcher.name === ORIGINAL_TENANT_LABEL ? { ...matcher, name: TENANT_LABEL } : matcher,
        ),
    shown: stream => {
      let view = shown.get(stream);
      if (view === undefined) {
        const labels = withTenant(stream.labels, tenant);
        view = { labels, text: formatLabels(labels) };
        shown.set(stream, view);
      }
      return view;
    },
  };
}

function withTenant(labels: Labels, tenant: string): Labels {
  const pairs = labels.map(
    ({ name, value }) => [name === TENANT_LABEL ? ORIGINAL_TENANT_LABEL : name, value] as const,
  );
  return labelsOf([...pairs, [TENANT_LABEL, tenant]]);
}
