/** Button that runs a query; it spins until the response arrives. */
import { keysText } from '../app/shortcuts.ts';

interface RunButtonProps {
  readonly title: string;
  readonly loading: boolean;
  readonly onRun: () => void;
  readonly children: string;
}

export function RunButton({ title, loading, onRun, children }: RunButtonProps) {
  return (
    <button
      type="button"
      class="button primary run"
      onClick={onRun}
      title={`${title} (${keysText('Mod+Enter').join(' ')})`}
    >
      {loading && <span class="spinner on-accent" />}
      {children}
    </button>
  );
}
