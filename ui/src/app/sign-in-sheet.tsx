/** Sheet for the tenant, and for the credentials if the store requires them. */
import { useState } from 'preact/hooks';
import type { ApiError } from '../api/errors.ts';
import { knownAccess } from '../api/known-access.ts';
import { credentials, currentTenant, signIn, signOut } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { changeParams } from '../state/navigation.ts';
import { changeSettings, remember, settings } from '../state/settings.ts';
import { useStore } from '../state/use-store.ts';

interface SignInProps {
  /** Refusal that opened the sheet, if any. */
  readonly problem: ApiError | undefined;
  readonly onClose: () => void;
}

export function SignInSheet({ problem, onClose }: SignInProps) {
  const { tenants } = useStore(settings);
  const known = useStore(credentials);
  const granted = useStore(knownAccess);
  const [tenant, setTenant] = useState(currentTenant);
  const [user, setUser] = useState(known?.user ?? '');
  const [password, setPassword] = useState(known?.password ?? '');
  const submit = (event: Event) => {
    event.preventDefault();
    if (password !== '') signIn({ user: user || tenant, password });
    else if (known !== undefined) signOut();
    changeSettings({ tenant });
    if (tenant !== '') remember('tenants', tenant);
    changeParams({ tenant });
    onClose();
    // All data on the page belongs to the previous identity.
    window.location.reload();
  };
  return (
    <Dialog title="Tenant and sign-in" onClose={onClose}>
      <form class="form" onSubmit={submit}>
        {problem !== undefined && (
          <p class="form-problem" role="alert">
            Response of the store: {problem.message}
          </p>
        )}
        <label class="field">
          <span>Tenant</span>
          <input
            class="input"
            list="known-tenants"
            autofocus
            value={tenant}
            placeholder="default of the store"
            autocomplete="off"
            spellcheck={false}
            onInput={event => setTenant(event.currentTarget.value.trim())}
          />
          <small>Sent as X-Scope-OrgID. A store with one tenant does not need it.</small>
        </label>
        <datalist id="known-tenants">
          {[...new Set([...(granted?.tenants ?? []).filter(name => name !== '*'), ...tenants])].map(name => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {granted?.tokensEnabled !== false && (
          <fieldset class="group">
            <legend>Access token (logboom token create)</legend>
            <label class="field">
              <span>User</span>
              <input
                class="input"
                value={user}
                autocomplete="username"
                spellcheck={false}
                placeholder={tenant === '' ? 'tenant or user name' : tenant}
                onInput={event => setUser(event.currentTarget.value)}
              />
            </label>
            <label class="field">
              <span>Token or password</span>
              <input
                class="input"
                type="password"
                value={password}
                autocomplete="current-password"
                onInput={event => setPassword(event.currentTarget.value)}
              />
              <small>Kept only in this tab, until it is closed.</small>
            </label>
          </fieldset>
        )}
        <div class="form-actions">
          {known !== undefined && (
            <Button
              kind="quiet"
              onClick={() => {
                signOut();
                window.location.reload();
              }}
            >
              Sign out
            </Button>
          )}
          <Button kind="primary" submits>
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
