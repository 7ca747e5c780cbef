/** The documentation site: its list of pages, and the start page. */
import { expect, test } from '@jest/globals';
import config from '../../scripts/site/.vitepress/config.mjs';
import { allPages } from './pages.ts';

test('the sidebar lists every page of docs/ once', () => {
  const links = config.themeConfig.sidebar.flatMap(({ items }) => items.map(({ link }) => link));
  const pages = allPages().map(page => `/${page.slice(0, -'.md'.length).replace(/\bindex$/, '')}`);
  expect(links.sort()).toEqual(pages.sort());
});
