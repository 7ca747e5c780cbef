/** Keyboard shortcuts of the log view. They apply to the first of two queries. */
import type { RefObject } from 'preact';
import { useMemo } from 'preact/hooks';
import { useShortcuts } from '../../app/shortcuts.ts';
import { EDITOR_ID } from '../../components/query-editor.tsx';
import { absoluteRange } from '../../components/time-picker.tsx';
import type { PaneId } from '../../state/pane.ts';
import { changeSettings, settings } from '../../state/settings.ts';
import { type ResolvedRange, shiftRange } from '../../time/time-range.ts';
import type { LogsState } from './logs-state.ts';

interface QueryKeys {
  readonly pane: PaneId;
  readonly latest: RefObject<{ readonly state: LogsState; readonly range: ResolvedRange | undefined }>;
  readonly run: () => void;
  readonly cancel: () => void;
  readonly change: (changes: Partial<LogsState>) => void;
  readonly onTime: () => void;
}

export function useQueryKeys({ pane, latest, run, cancel, change, onTime }: QueryKeys): void {
  useShortcuts(
    useMemo(() => {
      if (pane !== '') return [];
      const group = 'Query';
      const move = (direction: -1 | 1) => {
        const known = latest.current?.range;
        if (known !== undefined) change({ range: absoluteRange(shiftRange(known, direction)) });
      };
      const reverse = () => change({ order: latest.current?.state.order === 'newest' ? 'oldest' : 'newest' });
      const toggle = (name: 'showsFields' | 'raw' | 'wraps') => () =>
        changeSettings({ [name]: !settings.get()[name] });
      return [
        { keys: 'Mod+Enter', does: 'Run query', group, act: run },
        {
          keys: '/',
          does: 'Focus query editor',
          group,
          act: () => document.getElementById(EDITOR_ID)?.focus(),
        },
        { keys: 'r', does: 'Run query again', group, act: run },
        { keys: 'Escape', does: 'Cancel query', group, act: cancel },
        { keys: 't', does: 'Select time range', group, act: onTime },
        { keys: 'ArrowLeft', does: 'Earlier', group, act: () => move(-1) },
        { keys: 'ArrowRight', does: 'Later', group, act: () => move(1) },
        { keys: 'o', does: 'Switch order: newest or oldest first', group: 'Lines', act: reverse },
        { keys: 'f', does: 'Show or hide fields', group: 'Lines', act: toggle('showsFields') },
        { keys: 'm', does: 'Switch message first and raw lines', group: 'Lines', act: toggle('raw') },
        { keys: 'w', does: 'Wrap long lines', group: 'Lines', act: toggle('wraps') },
      ];
    }, [pane, latest, run, cancel, change, onTime]),
  );
}
