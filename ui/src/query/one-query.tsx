/** Bar of a view that runs one query: the editor, the time range, the button and the keys that run it. */
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { mistakeOf } from '../api/errors.ts';
import { useComplete } from '../api/use-complete.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { EDITOR_ID } from '../components/query-editor.tsx';
import { QueryLine } from '../components/query-line.tsx';
import { RunButton } from '../components/run-button.tsx';
import { TimePicker } from '../components/time-picker.tsx';
import { changeParams } from '../state/navigation.ts';
import type { QueryState } from '../state/use-query.ts';
import type { RangeState } from '../state/use-range.ts';
import { QueryReading } from './query-reading.tsx';

/** Returns a function that runs a text as the query. It removes the parameters `cleared` from the URL. */
export function useQueryText(
  { setDraft }: QueryState,
  range: RangeState,
  cleared?: Readonly<Record<string, ''>>,
): (text: string) => void {
  const latest = useRef(range);
  latest.current = range;
  return useCallback(
    (text: string) => {
      setDraft(text);
      changeParams({ q: text, ...cleared });
      latest.current.renew();
    },
    [setDraft, cleared],
  );
}

interface OneQueryBarProps {
  readonly state: QueryState;
  readonly range: RangeState;
  readonly error: Error | undefined;
  readonly loading: boolean;
  /** Heading of the keys in the list of shortcuts. */
  readonly group: string;
  /** Names of running the query, and of running it again. */
  readonly does: string;
  readonly again: string;
  readonly placeholder: string;
  /** See useQueryText. */
  readonly onRun: (text: string) => void;
  readonly children: string;
}

export function OneQueryBar(props: OneQueryBarProps) {
  const { state, range, error, group, does, again, onRun } = props;
  const { query, draft, setDraft } = state;
  const [pickerOpen, setPickerOpen] = useState(false);
  const mistake = useMemo(
    () => (error === undefined || draft !== query ? undefined : mistakeOf(error.message, query)),
    [error, query, draft],
  );
  const latest = useRef(draft);
  latest.current = draft;
  const run = useCallback(() => onRun(latest.current), [onRun]);
  useShortcuts(
    useMemo(
      () => [
        { keys: 'Mod+Enter', does, group, act: run },
        {
          keys: '/',
          does: 'Focus query editor',
          group,
          act: () => document.getElementById(EDITOR_ID)?.focus(),
        },
        { keys: 'r', does: again, group, act: run },
        { keys: 't', does: 'Select time range', group, act: () => setPickerOpen(true) },
      ],
      [group, does, again, run],
    ),
  );
  return (
    <>
      <QueryLine
        draft={draft}
        onDraft={setDraft}
        onRun={run}
        mistake={mistake}
        complete={useComplete(range.resolved)}
        placeholder={props.placeholder}
      >
        <TimePicker
          range={range.text}
          resolved={range.resolved}
          onChange={range.change}
          open={pickerOpen}
          onOpen={setPickerOpen}
        />
        <RunButton title={does} loading={props.loading} onRun={run}>
          {props.children}
        </RunButton>
      </QueryLine>
      <QueryReading state={state} range={range.resolved} />
    </>
  );
}
