/**
 * The views of the page, in the order of the rail. To add one: a folder beside this file whose module has a component as
 * its default export, and an entry here. Each but the first is loaded when it is opened.
 */
import type { ComponentType } from 'preact';
import type { IconName } from '../components/icon.tsx';
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
}

export const VIEWS: readonly View[] = [{ id: 'logs', title: 'Logs', icon: 'logs', component: LogsView }];
