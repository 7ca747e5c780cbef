/**
 * Views of the page, in the order of the rail. To add one, create a folder next to this file whose module has
 * a component as its default export, and add an entry here. All but the first load when they are opened.
 */
import type { ComponentType } from 'preact';
import type { IconName } from '../components/icon.tsx';
import type { Route } from '../state/route.ts';
import LogsView from './logs/logs-view.tsx';

export interface View {
  /** ID in the URL: `#/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** Component that is loaded with the page. */
  readonly component?: ComponentType;
  /** Loads the component when it is first opened. */
  readonly load?: () => Promise<{ readonly default: ComponentType }>;
  /** True if the view has a query and a range, under the names of ASKED. */
  readonly asksQuery?: boolean;
}

/** Parameters that are carried from one view with a query to the next. */
const ASKED = ['q', 'scope', 'from', 'to'];

export const VIEWS: readonly View[] = [
  { id: 'logs', title: 'Logs', icon: 'logs', component: LogsView, asksQuery: true },
  {
    id: 'labels',
    title: 'Labels',
    icon: 'labels',
    load: () => import('./labels/labels-view.tsx'),
    asksQuery: true,
  },
  {
    id: 'patterns',
    title: 'Patterns',
    icon: 'patterns',
    load: () => import('./patterns/patterns-view.tsx'),
    asksQuery: true,
  },
  {
    id: 'tail',
    title: 'Tail',
    icon: 'tail',
    load: () => import('./tail/tail-view.tsx'),
    asksQuery: true,
  },
  {
    id: 'explain',
    title: 'Explain',
    icon: 'explain',
    load: () => import('./explain/explain-view.tsx'),
    asksQuery: true,
  },
  { id: 'boards', title: 'Boards', icon: 'boards', load: () => import('./boards/boards-view.tsx') },
  { id: 'rules', title: 'Rules', icon: 'bell', load: () => import('./rules/rules-view.tsx') },
  { id: 'deletes', title: 'Deletes', icon: 'trash', load: () => import('./deletes/deletes-view.tsx') },
  { id: 'usage', title: 'Usage', icon: 'usage', load: () => import('./usage/usage-view.tsx') },
  { id: 'status', title: 'Status', icon: 'status', load: () => import('./status/status-view.tsx') },
];

/** Parameters to carry from the current view to `target`. */
export function carriedParams(target: View, { view, params }: Route): Readonly<Record<string, string>> {
  const here = VIEWS.find(({ id }) => id === view);
  if (here?.asksQuery !== true || target.asksQuery !== true) return {};
  return Object.fromEntries(
    ASKED.flatMap(name => (params[name] === undefined ? [] : [[name, params[name]]])),
  );
}
