/** States without content: API errors, empty results, loading. */
import type { ComponentChildren } from 'preact';
import { settingOfRefusal } from '../../../shared/base/model/limit-settings.ts';
import type { ApiError } from '../api/errors.ts';
import { Icon, type IconName } from './icon.tsx';

export function ErrorMessage({
  error,
  lead,
  children,
}: {
  readonly error: ApiError;
  /** Content before the API's message. */
  readonly lead?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const { message, status, requestId } = error;
  const setting = settingOfRefusal(message);
  return (
    <div class="message error" role="alert">
      <Icon name="warning" size={18} />
      <div>
        {lead}
        <p class="message-text">{message}</p>
        {setting !== undefined && (
          <p class="message-note">
            To raise this limit, set <code>{setting}</code>.
          </p>
        )}
        {status > 0 && (
          <p class="message-note">
            Status {status}
            {requestId !== undefined && `, request ${requestId}`}
          </p>
        )}
        {children}
      </div>
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Loading indicator; shown after a delay (styles/message.css), so that fast responses do not flicker. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" />
      {what}
    </div>
  );
}
