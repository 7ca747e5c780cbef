/**
 * Views of the page. To add one, create a folder next to this file whose module has a component as its default
 * export, and add an entry here and to view-names.ts. All but the first load when they are opened.
 */
import type { ComponentType } from 'preact';
import type { Route } from '../state/route.ts';
import LogsView from './logs/logs-view.tsx';
import { VIEW_NAMES, type ViewId, type ViewName } from './view-names.ts';

export interface View extends ViewName, ViewPart {}

interface ViewPart {
  /** Component that is loaded with the page. */
  readonly component?: ComponentType;
  /** Loads the component when it is first opened. */
  readonly load?: () => Promise<{ readonly default: ComponentType }>;
  /** True if the view has a query and a range, under the names of ASKED. */
  readonly asksQuery?: boolean;
}

/** Parameters that are carried from one view with a query to the next. */
const ASKED = ['q', 'scope', 'from', 'to'];

const PARTS: Readonly<Record<ViewId, ViewPart>> = {
  logs: { component: LogsView, asksQuery: true },
  labels: { load: () => import('./labels/labels-view.tsx'), asksQuery: true },
  patterns: { load: () => import('./patterns/patterns-view.tsx'), asksQuery: true },
  tail: { load: () => import('./tail/tail-view.tsx'), asksQuery: true },
  explain: { load: () => import('./explain/explain-view.tsx'), asksQuery: true },
  boards: { load: () => import('./boards/boards-view.tsx') },
  rules: { load: () => import('./rules/rules-view.tsx') },
  deletes: { load: () => import('./deletes/deletes-view.tsx') },
  usage: { load: () => import('./usage/usage-view.tsx') },
  status: { load: () => import('./status/status-view.tsx') },
};

export const VIEWS: readonly View[] = VIEW_NAMES.map(name => ({ ...name, ...PARTS[name.id] }));

/** Parameters to carry from the current view to `target`. */
export function carriedParams(target: View, { view, params }: Route): Readonly<Record<string, string>> {
  const here = VIEWS.find(({ id }) => id === view);
  if (here?.asksQuery !== true || target.asksQuery !== true) return {};
  return Object.fromEntries(
    ASKED.flatMap(name => (params[name] === undefined ? [] : [[name, params[name]]])),
  );
}
