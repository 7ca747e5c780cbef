/** Navigation rail at the side (a bar at the bottom on phones): views, tenant, theme. */
import { useEffect, useRef } from 'preact/hooks';
import { knownAccess } from '../api/known-access.ts';
import { credentials, currentTenant } from '../api/session.ts';
import { IconButton } from '../components/button.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { hrefOf, route } from '../state/navigation.ts';
import { settings, type Theme } from '../state/settings.ts';
import { useStore } from '../state/use-store.ts';
import { carriedParams, VIEWS } from '../views/registry.ts';
import { nextTheme } from './theme.ts';

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { auto: 'auto', light: 'sun', dark: 'moon' };
const THEME_NAMES: Readonly<Record<Theme, string>> = {
  auto: 'System theme',
  light: 'Light theme',
  dark: 'Dark theme',
};

interface RailProps {
  readonly view: string;
  readonly onHelp: () => void;
  readonly onSignIn: () => void;
}

export function Rail({ view, onHelp, onSignIn }: RailProps) {
  const at = useStore(route);
  useStore(credentials);
  const { theme } = useStore(settings);
  const nav = useRef<HTMLElement>(null);
  // Not all views fit on a phone.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view]);
  const known = useStore(knownAccess);
  const tenant = currentTenant();
  const asksWho = known !== undefined && (known.tokensEnabled || known.authEnabled);
  return (
    <header class="rail">
      <a class="brand" href={hrefOf('logs')}>
        <span class="hidden">Logboom home</span>
        <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" class="brand-ground" />
          <rect x="7" y="8" width="11" height="3.2" rx="1.6" fill="#fff" />
          <rect x="7" y="14.4" width="18" height="3.2" rx="1.6" fill="#fff" opacity=".72" />
          <rect x="7" y="20.8" width="7" height="3.2" rx="1.6" fill="#fff" opacity=".5" />
          <circle cx="23.4" cy="9.6" r="3" fill="#ffb454" />
        </svg>
      </a>
      <nav ref={nav} aria-label="Views">
        {VIEWS.map(target => (
          <a
            key={target.id}
            href={hrefOf(target.id, carriedParams(target, at))}
            class="rail-link"
            aria-current={target.id === view ? 'page' : undefined}
            title={target.title}
          >
            <Icon name={target.icon} size={18} />
            <span>{target.title}</span>
          </a>
        ))}
      </nav>
      <div class="rail-tools">
        {asksWho && (
          <button type="button" class="rail-tenant" onClick={onSignIn} title="Tenant and sign-in">
            <Icon name="user" size={16} />
            <span>{tenant === '' ? 'Tenant' : tenant}</span>
          </button>
        )}
        <IconButton icon={THEME_ICONS[theme]} name={THEME_NAMES[theme]} onClick={nextTheme} />
        <IconButton icon="keyboard" name="Keyboard shortcuts" onClick={onHelp} class="only-wide" />
      </div>
    </header>
  );
}
