/** Buttons. An IconButton has no text, but always a name, which is also its tooltip. */
import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type Native = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'size' | 'type' | 'children'>;

interface ButtonProps extends Native {
  readonly icon?: IconName;
  readonly kind?: 'primary' | 'plain' | 'quiet';
  readonly submits?: boolean;
  readonly children: ComponentChildren;
}

export function Button({
  icon,
  kind = 'plain',
  submits = false,
  children,
  class: more,
  ...native
}: ButtonProps) {
  return (
    <button type={submits ? 'submit' : 'button'} class={`button ${kind} ${more ?? ''}`} {...native}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Native {
  readonly icon: IconName;
  readonly name: string;
  /** State of a toggle button. */
  readonly pressed?: boolean;
}

export function IconButton({ icon, name, pressed, class: more, ...native }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${more ?? ''}`}
      aria-label={name}
      title={name}
      aria-pressed={pressed}
      {...native}
    >
      <Icon name={icon} />
    </button>
  );
}
