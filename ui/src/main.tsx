/** The explorer page: reads the store's own API and shows what is in it. */
import { render } from 'preact';
import { App } from './app/app.tsx';
import { drawPlainText } from './app/plain-text.ts';
import { listenForShortcuts } from './app/shortcuts.ts';
import { keepTheme } from './app/theme.ts';
import './styles/index.css';

drawPlainText();
keepTheme();
listenForShortcuts();
render(<App />, document.getElementById('app')!);
