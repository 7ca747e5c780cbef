/**
 * Runs before the first paint: sets the colors, and starts the page's script after that paint. The frame in index.html is then
 * painted without waiting until the script is compiled and has drawn the view. The script is not preloaded either: Chromium
 * compiles it as soon as it has it, next to the paint.
 */
import { applyTheme } from './app/theme.ts';

/** Set by the build (scripts/build-ui.mjs). */
declare const MAIN_SCRIPT: string;

applyTheme();
const run = () => void import(MAIN_SCRIPT);
// A page in the background is not painted.
if (document.hidden) run();
// Frames are requested from when all style sheets are there; a task after one runs after its paint.
else requestAnimationFrame(() => setTimeout(run));
