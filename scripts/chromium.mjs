/**
 * Chromium for browser tests and measurements: that of LOGBOOM_CHROMIUM, else the system's, else Debian's,
 * which is installed if this runs as root.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Fonts, so that pages and screenshots look as on most desktops. */
const PACKAGES = ['chromium', 'fonts-inter', 'fonts-jetbrains-mono', 'fonts-noto-color-emoji'];

export const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none'];

/** Path of the program; undefined if there is none. */
export function findChromium(say) {
  const named = process.env.LOGBOOM_CHROMIUM;
  if (named !== undefined) return named;
  const found = onPath();
  if (found !== undefined) return found;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  say('installing Chromium with apt-get; this happens once');
  const quiet = {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-qq'], quiet);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES], quiet);
  return onPath();
}

function onPath() {
  const folders = (process.env.PATH ?? '').split(':').concat('/usr/bin');
  for (const program of PROGRAMS) {
    const place = folders.map(folder => join(folder, program)).find(path => existsSync(path));
    if (place !== undefined) return place;
  }
  return undefined;
}
