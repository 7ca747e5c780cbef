/** Names of the views, in the order of the rail. The page shows them before its scripts run (app/shell.ts). */
import type { IconName } from '../components/icon-paths.ts';

export interface ViewName {
  /** ID in the URL: `#/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
}

export const VIEW_NAMES = [
  { id: 'logs', title: 'Logs', icon: 'logs' },
  { id: 'labels', title: 'Labels', icon: 'labels' },
  { id: 'patterns', title: 'Patterns', icon: 'patterns' },
  { id: 'tail', title: 'Tail', icon: 'tail' },
  { id: 'explain', title: 'Explain', icon: 'explain' },
  { id: 'boards', title: 'Boards', icon: 'boards' },
  { id: 'rules', title: 'Rules', icon: 'bell' },
  { id: 'deletes', title: 'Deletes', icon: 'trash' },
  { id: 'usage', title: 'Usage', icon: 'usage' },
  { id: 'status', title: 'Status', icon: 'status' },
] as const satisfies readonly ViewName[];

export type ViewId = (typeof VIEW_NAMES)[number]['id'];
