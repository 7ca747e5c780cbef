/** Live tail: the lines of a query as they are pushed. */
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { mistakeOf } from '../../api/errors.ts';
import { useComplete } from '../../api/use-complete.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { MistakeHelp } from '../../components/mistake-help.tsx';
import { EDITOR_ID } from '../../components/query-editor.tsx';
import { QueryLine } from '../../components/query-line.tsx';
import { RunButton } from '../../components/run-button.tsx';
import { ChooseService } from '../../query/choose-service.tsx';
import { QueryReading } from '../../query/query-reading.tsx';
import { TailNotices, TailWord } from '../../query/tail-state.tsx';
import { useTail } from '../../query/use-tail.ts';
import { changeParams } from '../../state/navigation.ts';
import { changeSettings, remember, settings } from '../../state/settings.ts';
import { useQuery } from '../../state/use-query.ts';
import { useRange } from '../../state/use-range.ts';
import { useStore } from '../../state/use-store.ts';
import { MAX_KEPT_ROWS } from '../../tail/tail-buffer.ts';
import { countText, manyText } from '../../time/quantities.ts';
import { TailList } from './tail-list.tsx';

const PLACEHOLDER = '{service_name="checkout"} |= "declined"';

export default function TailView() {
  const { wraps, raw } = useStore(settings);
  const typed = useQuery();
  const { text, query, draft, setDraft } = typed;
  // Used only for completions: a tail has no range.
  const range = useRange();
  const [isStopped, setStopped] = useState(false);
  const [round, setRound] = useState(0);
  const asks = query.trim() !== '';
  const tail = useTail(asks && !isStopped ? query : undefined, round);
  const { buffer, state, isPaused, pause, clear } = tail;
  const error = state?.kind === 'refused' ? state.error : undefined;
  const mistake = useMemo(
    () => (error === undefined || draft !== query ? undefined : mistakeOf(error.message, query)),
    [error, query, draft],
  );
  const runs = state !== undefined && state.kind !== 'refused';

  const latest = useRef({ draft, isPaused, runs });
  latest.current = { draft, isPaused, runs };
  const ask = useCallback(
    (next: string) => {
      if (next.trim() !== '') remember('recentQueries', next);
      setDraft(next);
      setStopped(false);
      setRound(count => count + 1);
      changeParams({ q: next });
    },
    [setDraft],
  );
  const start = useCallback(() => ask(latest.current.draft), [ask]);
  useShortcuts(
    useMemo(() => {
      const group = 'Live tail';
      return [
        { keys: 'Mod+Enter', does: 'Start tail', group, act: start },
        {
          keys: '/',
          does: 'Focus query editor',
          group,
          act: () => document.getElementById(EDITOR_ID)?.focus(),
        },
        {
          keys: 'p',
          does: 'Pause or resume',
          group,
          act: () => latest.current.runs && pause(!latest.current.isPaused),
        },
        { keys: 's', does: 'Stop tail', group, act: () => setStopped(true) },
        { keys: 'x', does: 'Clear lines', group, act: clear },
        {
          keys: 'w',
          does: 'Wrap long lines',
          group,
          act: () => changeSettings({ wraps: !settings.get().wraps }),
        },
        { keys: 'm', does: 'Raw lines', group, act: () => changeSettings({ raw: !settings.get().raw }) },
      ];
    }, [start, pause, clear]),
  );

  return (
    <div class="page tail">
      <h1 class="hidden">Live tail</h1>
      <QueryLine
        draft={draft}
        onDraft={setDraft}
        onRun={start}
        mistake={mistake}
        complete={useComplete(range.resolved)}
        placeholder={PLACEHOLDER}
      >
        <TailWord state={state} isPaused={isPaused} />
        {runs && draft === text ? (
          <Button class="run" icon="stop" onClick={() => setStopped(true)}>
            Stop
          </Button>
        ) : (
          <RunButton title="Start live tail" loading={false} onRun={start}>
            Start
          </RunButton>
        )}
      </QueryLine>
      <QueryReading state={typed} range={range.resolved} />
      {asks && (
        <div class="page-line tail-tools">
          <p class="numeric">
            <strong>{manyText(buffer.rows.length, 'line')}</strong>
            {buffer.trimmed > 0 && (
              <span class="soft only-wide">{` · last ${countText(MAX_KEPT_ROWS)} kept`}</span>
            )}
            {isPaused && (
              <span
                class="waiting-count"
                role="status"
              >{` · ${countText(buffer.waiting.length)} waiting`}</span>
            )}
          </p>
          <Button
            kind="quiet"
            class="small"
            icon={isPaused ? 'play' : 'pause'}
            disabled={!runs}
            onClick={() => pause(!isPaused)}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Button kind="quiet" class="small" icon="trash" disabled={buffer.received === 0} onClick={clear}>
            Clear
          </Button>
          <IconButton
            icon="wrap"
            name="Wrap long lines"
            pressed={wraps}
            onClick={() => changeSettings({ wraps: !wraps })}
          />
          <IconButton
            icon="raw"
            name="Raw lines"
            pressed={raw}
            onClick={() => changeSettings({ raw: !raw })}
          />
        </div>
      )}
      <TailNotices state={state} isPaused={isPaused} buffer={buffer} />
      {error !== undefined && (
        <div class="tail-message">
          <ErrorMessage error={error} lead={<MistakeHelp error={error} query={query} onQuery={ask} />} />
        </div>
      )}
      {!asks && (
        <div class="page-scroll">
          <Empty icon="tail" title="Live tail of a service">
            <p>
              Choose a service or enter a query. The tail starts with the last 100 lines of the last hour.
            </p>
          </Empty>
          <ChooseService range={range.resolved} onQuery={ask} />
        </div>
      )}
      {asks && buffer.rows.length > 0 && <TailList buffer={buffer} query={query} />}
      {state?.kind === 'connecting' && buffer.rows.length === 0 && <Loading what="Connecting" />}
      {state?.kind === 'live' && buffer.rows.length === 0 && (
        <Empty icon="tail" title="Waiting for lines">
          <p>
            {buffer.received === 0
              ? 'No line of the last hour matches. New lines appear here as they are pushed.'
              : 'New lines appear here as they are pushed.'}
          </p>
        </Empty>
      )}
    </div>
  );
}
