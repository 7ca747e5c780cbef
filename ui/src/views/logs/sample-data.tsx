/** Loads and deletes sample data. The component loads on demand. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../api/errors.ts';
import { Button } from '../../components/button.tsx';

interface SampleDataProps {
  readonly isLoaded: boolean;
  /** Called after sample data was loaded or deleted. */
  readonly onChange: () => void;
}

export function SampleData({ isLoaded, onChange }: SampleDataProps) {
  const [busy, setBusy] = useState(false);
  const [deleted, setDeleted] = useState(false);
  const [problem, setProblem] = useState<string>();
  const act = async (isDelete: boolean) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { deleteSamples, pushSamples } = await import('../../api/sample.ts');
      await (isDelete ? deleteSamples() : pushSamples());
      setDeleted(isDelete);
      onChange();
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <section class="sample-data" aria-label="Sample data">
      {isLoaded ? (
        <>
          <p>
            {deleted
              ? 'A delete request hides the sample data. Its services leave this list when the store has processed the request.'
              : 'Services that start with sample- contain sample data.'}
          </p>
          {!deleted && (
            <Button class="small" icon="trash" disabled={busy} onClick={() => act(true)}>
              Delete sample data
            </Button>
          )}
        </>
      ) : (
        <>
          <p>
            To try the explorer, load 3,100 labeled lines of five services. You can delete them with one
            click.
          </p>
          <Button class="small" disabled={busy} onClick={() => act(false)}>
            Load sample data
          </Button>
        </>
      )}
      {problem !== undefined && (
        <p class="export-problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
