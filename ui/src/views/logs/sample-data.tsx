/** Loads and deletes sample data. The component loads on demand. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../api/errors.ts';
import { Button } from '../../components/button.tsx';
import { SAMPLE_PREFIX } from '../../sample/sample-label.ts';

interface SampleDataProps {
  readonly isLoaded: boolean;
  /** Called after sample data was loaded or deleted. */
  readonly onChange: () => void;
}

export function SampleData({ isLoaded, onChange }: SampleDataProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const act = async (isDelete: boolean) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { deleteSamples, pushSamples } = await import('../../api/sample.ts');
      await (isDelete ? deleteSamples() : pushSamples());
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
          <p>Services that start with {SAMPLE_PREFIX} contain sample data.</p>
          <Button class="small" icon="trash" disabled={busy} onClick={() => act(true)}>
            Delete sample data
          </Button>
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
