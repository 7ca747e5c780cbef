/** List of all boards and saved queries of the tenant: open, create, import, export. */
import { useState } from 'preact/hooks';
import type { ApiError } from '../../api/errors.ts';
import {
  createSaved,
  deleteSaved,
  fetchSaved,
  fetchSavedItem,
  type SavedHead,
  type SavedKind,
} from '../../api/saved.ts';
import { useRequest } from '../../api/use-request.ts';
import { boardFileText } from '../../boards/board-file.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { Moment } from '../../components/moment.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { Panel, PanelPage } from '../../components/panel-page.tsx';
import { openSavedQuery } from '../../query/open-saved.ts';
import { saveFile } from '../../query/save-file.ts';
import { go, hrefOf } from '../../state/navigation.ts';
import { manyText } from '../../time/quantities.ts';
import { ImportSheet } from './import-sheet.tsx';

const PAGE = 50;

export function BoardList() {
  const boards = useRequest(signal => fetchSaved('boards', signal), []);
  const queries = useRequest(signal => fetchSaved('queries', signal), []);
  const [imports, setImports] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const error = problem ?? boards.error ?? queries.error;
  const reload = () => {
    setProblem(undefined);
    boards.reload();
    queries.reload();
  };
  const create = () => {
    createSaved('boards', {
      ...{ name: 'New board', description: '', from: 'now-1h', to: 'now', refreshSeconds: 0 },
      ...{ variables: [], panels: [] },
    }).then(({ id }) => go('boards', { id, edit: '1' }), setProblem);
  };
  const exportAll = async () => {
    try {
      const [all, asked] = [boards.value ?? [], queries.value ?? []];
      // One request after the other: a browser sends six at a time.
      const found = { boards: [] as never[], queries: [] as never[] };
      for (const { id } of all) found.boards.push((await fetchSavedItem('boards', id)).content as never);
      for (const { id } of asked) found.queries.push((await fetchSavedItem('queries', id)).content as never);
      saveFile('logboom-boards.json', boardFileText(found.boards, found.queries), 'application/json');
    } catch (failed) {
      setProblem(failed as ApiError);
    }
  };
  const isLoaded = boards.value !== undefined && queries.value !== undefined;
  const isEmpty = boards.value?.length === 0 && queries.value?.length === 0;
  return (
    <PanelPage
      title="Boards"
      about="Shared by everyone who can read the logs of this tenant"
      onReload={reload}
      tools={
        <>
          <Button icon="upload" onClick={() => setImports(true)}>
            Import
          </Button>
          {!isEmpty && (
            <Button icon="download" disabled={!isLoaded} onClick={exportAll}>
              Export all
            </Button>
          )}
          <Button kind="primary" icon="plus" onClick={create}>
            Create board
          </Button>
        </>
      }
    >
      {error !== undefined && <ErrorMessage error={error} />}
      {boards.value === undefined && error === undefined && <Loading what="Loading boards" />}
      {isEmpty && (
        <Empty icon="boards" title="No boards yet">
          <p>Create one, import a Grafana dashboard, or save a query in Logs.</p>
        </Empty>
      )}
      {boards.value !== undefined && boards.value.length > 0 && (
        <SavedPanel
          title="Boards"
          kind="boards"
          heads={boards.value}
          onOpen={({ id }) => go('boards', { id })}
          onProblem={setProblem}
          onChanged={reload}
        />
      )}
      {queries.value !== undefined && queries.value.length > 0 && (
        <SavedPanel
          title="Saved queries"
          kind="queries"
          heads={queries.value}
          onOpen={({ id }) => {
            fetchSavedItem('queries', id).then(({ content }) => openSavedQuery(content), setProblem);
          }}
          onProblem={setProblem}
          onChanged={reload}
        />
      )}
      {imports && (
        <ImportSheet
          onClose={() => setImports(false)}
          onDone={() => {
            setImports(false);
            reload();
          }}
        />
      )}
    </PanelPage>
  );
}

interface SavedPanelProps {
  readonly title: string;
  readonly kind: SavedKind;
  readonly heads: readonly SavedHead[];
  readonly onOpen: (head: SavedHead) => void;
  readonly onProblem: (problem: ApiError) => void;
  readonly onChanged: () => void;
}

function SavedPanel({ title, kind, heads, onOpen, onProblem, onChanged }: SavedPanelProps) {
  const paged = usePaged(heads, PAGE);
  /** ID of the item that waits for the confirmation to delete it. */
  const [doomed, setDoomed] = useState<string>();
  const remove = (head: SavedHead) => {
    if (doomed !== head.id) setDoomed(head.id);
    else deleteSaved(kind, head).then(onChanged, onProblem);
  };
  return (
    <Panel title={title} aside={<span class="numeric">{manyText(heads.length, 'item')}</span>}>
      <ul class="saved-list">
        {paged.shown.map(head => (
          <li key={head.id}>
            <a
              href={kind === 'boards' ? hrefOf('boards', { id: head.id }) : hrefOf('boards')}
              onClick={event => {
                if (event.ctrlKey || event.metaKey) return;
                event.preventDefault();
                onOpen(head);
              }}
            >
              <strong>{head.name}</strong>
              <span class={kind === 'queries' ? 'mono' : ''}>{head.about}</span>
            </a>
            <span class="soft numeric">
              <Moment ms={Date.parse(head.updated)} />
            </span>
            {doomed === head.id ? (
              <Button class="small danger" kind="primary" onClick={() => remove(head)}>
                Delete {head.name}
              </Button>
            ) : (
              <IconButton icon="trash" name={`Delete ${head.name}`} onClick={() => remove(head)} />
            )}
          </li>
        ))}
      </ul>
      <More paged={paged} what={title.toLowerCase()} />
    </Panel>
  );
}
