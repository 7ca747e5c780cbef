/**
 * One board: its time range, variables, refresh and panels. Choices are in the URL; an edit is kept until it
 * is saved.
 */
import { useMemo, useState } from 'preact/hooks';
import type { Board, BoardPanel as PanelContent } from '../../../../shared/base/model/board.ts';
import type { ApiError } from '../../api/errors.ts';
import { createSaved, fetchSavedItem, replaceSaved, type Saved } from '../../api/saved.ts';
import { useRequest } from '../../api/use-request.ts';
import { boardFileText } from '../../boards/board-file.ts';
import { chosenOf } from '../../boards/board-variables.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { RefreshSelect } from '../../components/refresh-select.tsx';
import { absoluteRange, TimePicker } from '../../components/time-picker.tsx';
import { saveFile } from '../../query/save-file.ts';
import { changeParams, go, hrefOf, route } from '../../state/navigation.ts';
import { settings } from '../../state/settings.ts';
import { useEvery } from '../../state/use-every.ts';
import { useStore } from '../../state/use-store.ts';
import { resolveRange } from '../../time/time-range.ts';
import { BoardForm } from './board-form.tsx';
import { BoardPanel } from './board-panel.tsx';
import { PanelForm } from './panel-form.tsx';
import { VariableBar } from './variable-bar.tsx';

const NEW_PANEL: PanelContent = {
  ...{ title: '', kind: 'lines', unit: 'auto', width: 6, rows: 4 },
  queries: [{ query: '', legend: '' }],
};

export function BoardPage({ id }: { readonly id: string }) {
  const asked = useRequest(signal => fetchSavedItem('boards', id, signal), [id]);
  if (asked.error !== undefined) {
    return (
      <div class="board">
        <ErrorMessage error={asked.error}>
          <a href={hrefOf('boards')}>Show all boards</a>
        </ErrorMessage>
      </div>
    );
  }
  if (asked.value === undefined) return <Loading what="Loading board" />;
  return <Shown key={asked.value.version} saved={asked.value} onReload={asked.reload} />;
}

function Shown({ saved, onReload }: { readonly saved: Saved<'boards'>; readonly onReload: () => void }) {
  const { params } = useStore(route);
  const { zone } = useStore(settings);
  const [board, setBoard] = useState<Board>(saved.content);
  const [round, setRound] = useState(0);
  const [pickerOpen, setPickerOpen] = useState(false);
  const [formOpen, setFormOpen] = useState(false);
  /** Index of the edited panel; the number of panels for a new one. */
  const [panelAt, setPanelAt] = useState<number>();
  const [problem, setProblem] = useState<ApiError>();
  const edits = params.edit === '1';
  const isChanged = board !== saved.content;
  const text = { from: params.from ?? board.from, to: params.to ?? board.to };
  const range = useMemo(
    () => resolveRange(text, { nowMs: Date.now(), utc: zone === 'utc' }),
    [text.from, text.to, zone, round],
  );
  const refresh = params.refresh === undefined ? board.refreshSeconds : Number(params.refresh) || 0;
  useEvery(refresh * 1000, () => setRound(count => count + 1));
  const chosen = useMemo(() => chosenOf(board.variables, params), [board.variables, params]);
  const change = (changes: Partial<Board>) => setBoard(before => ({ ...before, ...changes }));
  const save = () => {
    setProblem(undefined);
    replaceSaved('boards', saved, board).then(() => {
      changeParams({ edit: '' }, { replace: true });
      onReload();
    }, setProblem);
  };
  const saveCopy = () => {
    createSaved('boards', { ...board, name: `${board.name.slice(0, 73)} (copy)` }).then(
      ({ id }) => go('boards', { id }),
      setProblem,
    );
  };
  const discard = () => {
    setBoard(saved.content);
    setProblem(undefined);
    changeParams({ edit: '' }, { replace: true });
    if (problem?.status === 409) onReload();
  };
  const move = (at: number, by: -1 | 1) => {
    const panels = [...board.panels];
    const [panel] = panels.splice(at, 1);
    panels.splice(at + by, 0, panel);
    change({ panels });
  };
  return (
    <div class="board">
      <header class="board-head">
        <div class="board-title">
          <a class="soft" href={hrefOf('boards')}>
            Boards
          </a>
          <h1>{board.name}</h1>
          {board.description !== '' && <p class="soft">{board.description}</p>}
        </div>
        <div class="board-tools">
          <TimePicker
            range={text}
            resolved={range}
            onChange={({ from, to }) => changeParams({ from, to })}
            open={pickerOpen}
            onOpen={setPickerOpen}
          />
          <RefreshSelect
            seconds={refresh}
            onSeconds={seconds => changeParams({ refresh: String(seconds) }, { replace: true })}
          />
          <IconButton icon="refresh" name="Refresh" onClick={() => setRound(count => count + 1)} />
          <IconButton
            icon="download"
            name="Export as JSON"
            onClick={() => saveFile('logboom-board.json', boardFileText([board], []), 'application/json')}
          />
          {edits ? (
            <>
              <Button onClick={() => setFormOpen(true)}>Settings</Button>
              <Button icon="plus" onClick={() => setPanelAt(board.panels.length)}>
                Add panel
              </Button>
              <Button onClick={discard}>Discard</Button>
              <Button kind="primary" disabled={!isChanged} onClick={save}>
                Save board
              </Button>
            </>
          ) : (
            <Button icon="edit" onClick={() => changeParams({ edit: '1' }, { replace: true })}>
              Edit
            </Button>
          )}
        </div>
      </header>
      {problem !== undefined && (
        <ErrorMessage error={problem}>
          {problem.status === 409 && (
            <p class="board-conflict">
              <Button class="small" onClick={saveCopy}>
                Save copy
              </Button>
              <Button class="small" onClick={discard}>
                Discard and reload
              </Button>
            </p>
          )}
        </ErrorMessage>
      )}
      {board.variables.length > 0 && range !== undefined && (
        <VariableBar variables={board.variables} chosen={chosen} range={range} />
      )}
      {board.panels.length === 0 && (
        <Empty icon="boards" title="No panels in this board">
          <p>{edits ? 'Add a panel with a query.' : 'Select “Edit” to add panels.'}</p>
        </Empty>
      )}
      {range === undefined ? (
        <Empty icon="clock" title="Invalid time range" />
      ) : (
        <div class="board-grid">
          {board.panels.map((panel, i) => (
            <BoardPanel
              key={i}
              panel={panel}
              variables={board.variables}
              chosen={chosen}
              range={range}
              rangeText={text}
              onZoom={(fromMs, toMs) => changeParams({ ...absoluteRange({ fromMs, toMs }) })}
              tools={
                edits && (
                  <>
                    <IconButton icon="left" name="Move left" disabled={i === 0} onClick={() => move(i, -1)} />
                    <IconButton
                      icon="chevron"
                      name="Move right"
                      disabled={i === board.panels.length - 1}
                      onClick={() => move(i, 1)}
                    />
                    <IconButton icon="edit" name="Edit panel" onClick={() => setPanelAt(i)} />
                    <IconButton
                      icon="trash"
                      name="Delete panel"
                      onClick={() => change({ panels: board.panels.filter((_, at) => at !== i) })}
                    />
                  </>
                )
              }
            />
          ))}
        </div>
      )}
      {formOpen && (
        <BoardForm
          board={board}
          onClose={() => setFormOpen(false)}
          onBoard={next => {
            setBoard(next);
            setFormOpen(false);
          }}
        />
      )}
      {panelAt !== undefined && (
        <PanelForm
          panel={board.panels[panelAt] ?? NEW_PANEL}
          isNew={panelAt === board.panels.length}
          onClose={() => setPanelAt(undefined)}
          onPanel={panel => {
            const panels = [...board.panels];
            panels[panelAt] = panel;
            change({ panels });
            setPanelAt(undefined);
          }}
        />
      )}
    </div>
  );
}
