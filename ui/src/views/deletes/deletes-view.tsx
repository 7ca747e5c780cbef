/** Delete requests of the tenant with progress; creating and canceling one. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { type DeleteRequest, fetchDeletes } from '../../api/deletes.ts';
import type { ApiError } from '../../api/errors.ts';
import { fetchLimits } from '../../api/limits.ts';
import { useRequest } from '../../api/use-request.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { More, usePaged } from '../../components/more.tsx';
import { PanelPage } from '../../components/panel-page.tsx';
import { changeParams, route } from '../../state/navigation.ts';
import { useEvery } from '../../state/use-every.ts';
import { useStore } from '../../state/use-store.ts';
import { countText } from '../../time/quantities.ts';
import { CancelSheet } from './cancel-sheet.tsx';
import { DeleteCard } from './delete-card.tsx';
import { DeleteForm } from './delete-form.tsx';
import { type DeleteListFilter, deleteFilterOf, shownDeletes, stateOfDelete } from './deletes-model.ts';

/** Refresh interval; requests progress a few times per minute. */
const REFRESH_MS = 10_000;
const PAGE = 30;

/** Deletion mode of the tenant. */
async function fetchMode(signal: AbortSignal): Promise<string | undefined> {
  return (await fetchLimits(signal)).find(({ name }) => name === 'deletion_mode')?.value;
}

export default function DeletesView() {
  const { params } = useStore(route);
  const filter = deleteFilterOf(params.state);
  const requests = useRequest(fetchDeletes, []);
  const mode = useRequest(fetchMode, []);
  const [cancels, setCancels] = useState<DeleteRequest>();
  const [notice, setNotice] = useState('');
  const { value, error, reload } = requests;
  const open = value?.filter(request => stateOfDelete(request) !== 'processed').length ?? 0;
  useEvery(open > 0 ? REFRESH_MS : 0, reload);
  const begin = useCallback(() => changeParams({ new: '1' }), []);
  // Parameters that opened the form are removed with it.
  const closeForm = useCallback(() => changeParams({ new: '', q: '', from: '', to: '' }), []);
  const closeCancel = useCallback(() => setCancels(undefined), []);
  useShortcuts(
    useMemo(() => [{ keys: 'n', does: 'Delete logs', group: 'Delete requests', act: begin }], [begin]),
  );
  const shown = useMemo(() => shownDeletes(value ?? [], filter), [value, filter]);
  return (
    <PanelPage
      title="Delete requests"
      about={value === undefined ? 'Requests to delete log lines' : summaryOf(value.length, open)}
      onReload={reload}
      tools={
        error === undefined && (
          <Button kind="primary" icon="trash" onClick={begin}>
            Delete logs
          </Button>
        )
      }
    >
      {mode.value === 'filter-only' && error === undefined && (
        <p class="notice warn">
          <Icon name="warning" />
          <span>
            <code>deletion_mode</code> of this tenant is <code>filter-only</code>: requests hide their lines
            from queries, but never delete them.
          </span>
        </p>
      )}
      <p class="notice good" role="status" hidden={notice === ''}>
        <Icon name="check" />
        <span>{notice}</span>
      </p>
      {error !== undefined && <Refused error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading requests" />}
      {value?.length === 0 && (
        <Empty icon="trash" title="No delete requests">
          <p>
            A request selects lines by a query and a time range. Queries hide them immediately, and the store
            deletes them a day later.
          </p>
        </Empty>
      )}
      {value !== undefined && value.length > 0 && (
        <>
          <div>
            <Choice<DeleteListFilter>
              name="Request state"
              value={filter}
              onChange={state => changeParams({ state: state === 'all' ? '' : state })}
              options={[
                { value: 'all', label: `All ${countText(value.length)}` },
                { value: 'open', label: `Open ${countText(open)}` },
                { value: 'processed', label: `Processed ${countText(value.length - open)}` },
              ]}
            />
          </div>
          <Requests key={filter} requests={shown} onCancel={setCancels} />
        </>
      )}
      {params.new === '1' && error === undefined && (
        <DeleteForm
          onClose={closeForm}
          onCreated={() => {
            closeForm();
            setNotice('Request created: its lines are hidden from queries.');
            reload();
          }}
        />
      )}
      {cancels !== undefined && (
        <CancelSheet
          request={cancels}
          onClose={closeCancel}
          onCanceled={() => {
            closeCancel();
            setNotice(`Request ${cancels.id} canceled.`);
            reload();
          }}
        />
      )}
    </PanelPage>
  );
}

function summaryOf(all: number, open: number): string {
  if (all === 0) return 'Requests to delete log lines';
  return `${countText(all)} ${all === 1 ? 'request' : 'requests'}, ${countText(open)} open`;
}

interface RequestsProps {
  readonly requests: readonly DeleteRequest[];
  readonly onCancel: (request: DeleteRequest) => void;
}

function Requests({ requests, onCancel }: RequestsProps) {
  const paged = usePaged(requests, PAGE);
  if (requests.length === 0) return <Empty icon="search" title="No matching requests" />;
  return (
    <>
      <ul class="delete-list">
        {paged.shown.map(request => (
          <DeleteCard key={request.id} request={request} onCancel={onCancel} />
        ))}
      </ul>
      <More paged={paged} what="requests" />
    </>
  );
}

/** Error of the store, and the setting that controls it. */
function Refused({ error }: { readonly error: ApiError }) {
  const { status } = error;
  return (
    <ErrorMessage error={error}>
      {status === 404 && (
        <p class="message-note">
          Deletes are disabled if <code>compactor.retention_enabled</code> is false, or this process does not
          serve them.
        </p>
      )}
      {status === 403 && /not available/.test(error.message) && (
        <p class="message-note">
          <code>deletion_mode</code> of this tenant is <code>disabled</code>: requests are refused, and
          nothing is hidden or deleted.
        </p>
      )}
    </ErrorMessage>
  );
}
