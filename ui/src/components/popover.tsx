/** Popover below a button. It closes on Escape, on a click outside, and when the focus leaves it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface PopoverProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Accessible name. */
  readonly name: string;
  readonly button: ComponentChildren;
  readonly children: ComponentChildren;
  /** Edge of the button to align with. */
  readonly align?: 'left' | 'right';
}

export function Popover({ open, onClose, name, button, children, align = 'right' }: PopoverProps) {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      const target = event.target as Node;
      // A click on text inside focuses the ancestor of everything.
      const isAround = event.type === 'focusin' && target.contains(container.current);
      if (!isAround && !container.current?.contains(target)) onClose();
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      onClose();
      container.current?.querySelector('button')?.focus();
    };
    const element = container.current;
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    element?.addEventListener('keydown', key);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
      element?.removeEventListener('keydown', key);
    };
  }, [open, onClose]);
  return (
    <div class="popover-place" ref={container}>
      {button}
      {open && (
        <section class={`popover ${align}`} aria-label={name}>
          {children}
        </section>
      )}
    </div>
  );
}
