/**
 * Light or dark theme, chosen by the user or the system. Colors are in styles/tokens.css, with
 * `light-dark()`.
 */
import { changeSettings, settings, type Theme } from '../state/settings.ts';

const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' };
const SCHEMES: Readonly<Record<Theme, string>> = { auto: 'light dark', light: 'light', dark: 'dark' };

export function applyTheme(): void {
  const { theme } = settings.get();
  document.documentElement.style.colorScheme = SCHEMES[theme];
  document.documentElement.dataset.theme = theme;
}

/** Applies the theme whenever it changes; start.ts has applied it once. */
export function keepTheme(): void {
  settings.subscribe(applyTheme);
}

export function nextTheme(): void {
  changeSettings({ theme: NEXT[settings.get().theme] });
}

/**
 * Calls back when colors change, because a canvas does not follow them. Returns a function that unsubscribes.
 */
export function onThemeChange(act: () => void): () => void {
  const scheme = window.matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', act);
  let { theme } = settings.get();
  const end = settings.subscribe(() => {
    if (settings.get().theme === theme) return;
    theme = settings.get().theme;
    act();
  });
  return () => {
    scheme.removeEventListener('change', act);
    end();
  };
}
