/** Delete request: what it covers, its progress, and the cancel button. */
import type { DeleteRequest } from '../../api/deletes.ts';
import { Button } from '../../components/button.tsx';
import { Chip, type Tone } from '../../components/chip.tsx';
import { Moment } from '../../components/moment.tsx';
import { QueryText } from '../../components/query-text.tsx';
import { hrefOf } from '../../state/navigation.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { bytesText } from '../../time/quantities.ts';
import { describeRange } from '../../time/time-range.ts';
import { type DeleteState, deleteSteps, stateOfDelete } from './deletes-model.ts';

const TONES: Readonly<Record<DeleteState, Tone>> = { waiting: 'warn', working: 'busy', processed: 'good' };
const NAMES: Readonly<Record<DeleteState, string>> = {
  waiting: 'Waiting',
  working: 'Deleting',
  processed: 'Processed',
};

interface DeleteCardProps {
  readonly request: DeleteRequest;
  readonly onCancel: (request: DeleteRequest) => void;
}

export function DeleteCard({ request, onCancel }: DeleteCardProps) {
  const { zone } = useStore(settings);
  const { id, query, fromMs, toMs, share, bytesDone, bytesTotal } = request;
  const state = stateOfDelete(request);
  const times = { from: String(Math.round(fromMs)), to: String(Math.round(toMs)) };
  return (
    <li class="card delete-card" aria-label={`Delete request ${id}`}>
      <header>
        <Chip tone={TONES[state]}>{NAMES[state]}</Chip>
        <code class="soft">{id}</code>
        <span class="delete-range soft numeric">{describeRange(times, zone === 'utc')}</span>
        {state !== 'processed' && (
          <Button kind="quiet" class="small" onClick={() => onCancel(request)}>
            Cancel request
          </Button>
        )}
      </header>
      <a href={hrefOf('logs', { q: query, ...times })} title="Open in Logs">
        <QueryText query={query} />
      </a>
      {state === 'working' && (
        <div class="delete-progress">
          <progress class="meter" value={share} max={1} aria-label={`Progress of ${id}`} />
          <span class="soft numeric">
            {Math.floor(share * 100)}%
            {bytesTotal > 0 && `, ${bytesText(bytesDone)} of ${bytesText(bytesTotal)} processed`}
          </span>
        </div>
      )}
      <ol class="delete-steps">
        {deleteSteps(request).map(({ name, means, atMs }) => (
          <li key={name} class={atMs === undefined ? 'to-come' : 'done'} title={means}>
            <span>{name}</span>
            <small>{atMs === undefined ? 'pending' : <Moment ms={atMs} />}</small>
          </li>
        ))}
      </ol>
    </li>
  );
}
