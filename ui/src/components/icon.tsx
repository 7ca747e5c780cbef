/** Icons. They are hidden from screen readers; the surrounding element has the name. */
import { ICON_PATHS, type IconName } from './icon-paths.ts';

export type { IconName };

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
