/** Explorer page: reads the store's API and shows its data. */
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
