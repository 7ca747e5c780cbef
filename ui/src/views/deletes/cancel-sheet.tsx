/** Sheet that cancels a request, and asks for force if the store requires it. */
import { useState } from 'preact/hooks';
import { cancelDelete, type DeleteRequest } from '../../api/deletes.ts';
import type { ApiError } from '../../api/errors.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { QueryText } from '../../components/query-text.tsx';
import { asksForForce } from './deletes-model.ts';

interface CancelSheetProps {
  readonly request: DeleteRequest;
  readonly onClose: () => void;
  readonly onCanceled: () => void;
}

export function CancelSheet({ request, onClose, onCanceled }: CancelSheetProps) {
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const needsForce = problem !== undefined && asksForForce(problem.message);
  const cancel = (force: boolean) => {
    setBusy(true);
    cancelDelete(request.id, { force }).then(onCanceled, (error: ApiError) => {
      setBusy(false);
      setProblem(error);
    });
  };
  return (
    <Dialog title={`Cancel request ${request.id}?`} onClose={onClose}>
      <div class="form">
        <div class="query-box">
          <QueryText query={request.query} />
        </div>
        <p>
          {request.pickedUpMs === undefined
            ? 'Its hidden lines become visible again.'
            : 'Hidden lines become visible again, except those that are already deleted.'}
        </p>
        {problem !== undefined && <ErrorMessage error={problem} />}
        <div class="form-actions">
          <Button onClick={onClose}>Keep request</Button>
          <Button kind="primary" class="danger" disabled={busy} onClick={() => cancel(needsForce)}>
            {needsForce ? 'Force cancel' : 'Cancel request'}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
