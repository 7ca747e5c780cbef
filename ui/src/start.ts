/**
 * Runs before the first paint: sets the colors, and starts the page's script after that paint. The frame in index.html is then
 * painted without waiting until the script is compiled and has drawn the view.
 */
import { applyTheme } from './app/theme.ts';

applyTheme();
const { href } = document.querySelector<HTMLLinkElement>('link[rel=modulepreload]')!;
const run = () => void import(href);
// A page in the background is not painted.
if (document.hidden) run();
// Frames are requested from when all style sheets are there; a task after one runs after its paint.
else requestAnimationFrame(() => setTimeout(run));
