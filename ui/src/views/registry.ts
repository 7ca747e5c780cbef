/**
 * The views of the page, in the order of the rail. To add one: a folder beside this file whose module has a component as
 * its default export, and an entry here. Each but the first is loaded when it is opened.
 */
import type { ComponentType } from 'preact';
import type { IconName } from '../components/icon.tsx';
import type { Route } from '../state/route.ts';
import LogsView from './logs/logs-view.tsx';

export interface View {
  /** In the address: `#/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** There at once. */
  readonly component?: ComponentType;
  /** Loaded when it is opened first. */
  readonly load?: () => Promise<{ readonly default: ComponentType }>;
  /** It asks about a query over a range, under the names of ASKED. */
  readonly asksQuery?: boolean;
}

/** Go along from one view that asks about a query to the next. */
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

/** What goes along to `target` from the view that the address names. */
export function carriedParams(target: View, { view, params }: Route): Readonly<Record<string, string>> {
  const here = VIEWS.find(({ id }) => id === view);
  if (here?.asksQuery !== true || target.asksQuery !== true) return {};
  return Object.fromEntries(
    ASKED.flatMap(name => (params[name] === undefined ? [] : [[name, params[name]]])),
  );
}
