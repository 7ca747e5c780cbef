/** Sheet over the page: the browser's modal dialog, which keeps the focus and closes on Escape. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** `medium` is for a form with a chart, `wide` for log lines. */
  readonly size?: 'normal' | 'medium' | 'wide';
}

export function Dialog({ title, onClose, children, size = 'normal' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    const backdrop = (event: MouseEvent) => {
      // The inner sheet covers the whole dialog, so a click on the dialog itself is on the backdrop.
      if (event.target === dialog) onClose();
    };
    dialog.addEventListener('click', backdrop);
    return () => {
      dialog.removeEventListener('click', backdrop);
      dialog.close();
    };
  }, [onClose]);
  return (
    <dialog ref={element} class={`dialog ${size}`} aria-labelledby={heading} onClose={onClose}>
      <div class="sheet">
        <header>
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" name="Close" onClick={onClose} />
        </header>
        <div class="sheet-body">{children}</div>
      </div>
    </dialog>
  );
}
