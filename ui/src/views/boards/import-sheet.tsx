/**
 * Sheet that imports an explorer file or a Grafana dashboard. It first shows the contents and what cannot be
 * translated, then saves.
 */
import { useState } from 'preact/hooks';
import { type ApiError, messageOf } from '../../api/errors.ts';
import { createSaved } from '../../api/saved.ts';
import { type ImportedFile, importText, MAX_FILE_BYTES } from '../../boards/board-file.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { manyText } from '../../time/quantities.ts';

interface ImportSheetProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ImportSheet({ onClose, onDone }: ImportSheetProps) {
  const [file, setFile] = useState<ImportedFile>();
  const [fault, setFault] = useState<string>();
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const choose = async (chosen: File | undefined) => {
    setFile(undefined);
    setFault(undefined);
    setProblem(undefined);
    if (chosen === undefined) return;
    try {
      if (chosen.size > MAX_FILE_BYTES) {
        throw new Error(`The file has ${chosen.size} bytes (limit: ${MAX_FILE_BYTES}). Export fewer boards.`);
      }
      setFile(importText(await chosen.text()));
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  const save = async ({ boards, queries }: ImportedFile) => {
    setBusy(true);
    try {
      for (const board of boards) await createSaved('boards', board);
      for (const query of queries) await createSaved('queries', query);
      onDone();
    } catch (error) {
      setBusy(false);
      setProblem(error as ApiError);
    }
  };
  const count = (file?.boards.length ?? 0) + (file?.queries.length ?? 0);
  return (
    <Dialog title="Import boards" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          if (file !== undefined) void save(file);
        }}
      >
        <label class="field">
          <span>JSON file of the explorer or of a Grafana dashboard</span>
          <input
            class="input"
            type="file"
            accept=".json,application/json"
            onChange={event => void choose(event.currentTarget.files?.[0])}
          />
        </label>
        {fault !== undefined && (
          <p class="form-problem" role="alert">
            {fault}
          </p>
        )}
        {file !== undefined && (
          <div class="import-found" role="status">
            <p>
              {manyText(file.boards.length, 'board')} and{' '}
              {file.queries.length === 1 ? '1 saved query' : `${file.queries.length} saved queries`}
            </p>
            <ul>
              {file.boards.map((board, i) => (
                <li key={i}>
                  <strong>{board.name}</strong>: {manyText(board.panels.length, 'panel')},{' '}
                  {manyText(board.variables.length, 'variable')}
                </li>
              ))}
            </ul>
            {file.notes.length > 0 && (
              <details open>
                <summary>Not translated ({file.notes.length})</summary>
                <ul class="import-notes">
                  {file.notes.map((note, i) => (
                    <li key={i}>{note}</li>
                  ))}
                </ul>
              </details>
            )}
          </div>
        )}
        {problem !== undefined && <ErrorMessage error={problem} />}
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits disabled={busy || count === 0}>
            Import
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
