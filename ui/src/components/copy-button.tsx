/** Button that copies a text and briefly confirms it. */
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';

/** How long the confirmation is shown. */
const SAID_MS = 1500;

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [said, setSaid] = useState<'copied' | 'failed'>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('copied');
    } catch {
      // Browsers allow copying only on secure pages.
      setSaid('failed');
    }
    setTimeout(() => setSaid(undefined), SAID_MS);
  };
  const names = { copied: 'Copied', failed: 'Copying is blocked by the browser' };
  return (
    <Button kind="quiet" class="small" icon={said === 'copied' ? 'check' : 'copy'} onClick={copy}>
      {said === undefined ? label : names[said]}
    </Button>
  );
}
