/**
 * The frame of the page as HTML, without state: the build writes it into index.html, and browsers paint it
 * before the scripts run. The scripts draw the same frame over it (rail.tsx), so that nothing moves.
 */
import { ICON_PATHS, type IconName } from '../components/icon-paths.ts';
import { VIEW_NAMES } from '../views/view-names.ts';

export function shellHtml(): string {
  const links = VIEW_NAMES.map(
    ({ id, title, icon }) =>
      `<a href="#/${id}" class="rail-link" title="${title}">${iconHtml(icon, 18)}<span>${title}</span></a>`,
  );
  return (
    '<div class="frame before-scripts"><a class="skip" href="#/logs">Skip to content</a><header class="rail">' +
    `<a class="brand" href="#/logs"><span class="hidden">Logboom home</span>${BRAND}</a>` +
    `<nav aria-label="Views">${links.join('')}</nav><div class="rail-tools">` +
    `${toolHtml('auto', 'System theme', '')}${toolHtml('keyboard', 'Keyboard shortcuts', 'only-wide')}</div>` +
    '</header><main id="main" tabindex="-1"></main></div>'
  );
}

const BRAND =
  '<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">' +
  '<rect width="32" height="32" rx="8" class="brand-ground"/>' +
  '<rect x="7" y="8" width="11" height="3.2" rx="1.6" fill="#fff"/>' +
  '<rect x="7" y="14.4" width="18" height="3.2" rx="1.6" fill="#fff" opacity=".72"/>' +
  '<rect x="7" y="20.8" width="7" height="3.2" rx="1.6" fill="#fff" opacity=".5"/>' +
  '<circle cx="23.4" cy="9.6" r="3" fill="#ffb454"/></svg>';

function iconHtml(name: IconName, size: number): string {
  return `<svg class="icon" width="${size}" height="${size}" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="${ICON_PATHS[name]}"/></svg>`;
}

function toolHtml(icon: IconName, name: string, more: string): string {
  return `<button type="button" class="icon-button ${more}" aria-label="${name}" title="${name}">${iconHtml(icon, 16)}</button>`;
}
