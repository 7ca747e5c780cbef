/**
 * `npm run docs:images`: makes the pictures of the explorer in `docs/images` from the screenshots of
 * `npm run test:browser`, which has to run first. Look at each of them before you commit it.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { CHROMIUM_ARGUMENTS, findChromium } from './chromium.mjs';

const SCREENSHOTS = join(ROOT, 'dist', 'screenshots');
const IMAGES = join(ROOT, 'docs', 'images');
const QUALITY = 82;
const DESKTOP = [1440, 900];
const PHONE = [390, 844];

const VIEWS = [
  ...['start', 'logs', 'metric', 'heat', 'live', 'labels', 'patterns', 'tail', 'explain'],
  ...['boards', 'board', 'alert', 'rules', 'deletes', 'usage', 'status'],
];
const ON_PHONE = ['start', 'logs', 'metric', 'labels', 'patterns', 'tail'];
const BOARDS_ON_PHONE = ['live', 'heat', 'boards', 'alert'];

/** Pictures: screenshots side by side, the size of each, and the width of the picture. */
const PICTURES = [
  ['explorer-logs', ['view-logs-desktop-light'], DESKTOP, 1440],
  ['explorer-details', ['details-dark'], DESKTOP, 1440],
  ['explorer-patterns', ['patterns'], DESKTOP, 1440],
  ['explorer-rules', ['rules'], DESKTOP, 1440],
  ...VIEWS.map(view => [
    `explorer-view-${view}`,
    ['light', 'dark'].map(color => `view-${view}-desktop-${color}`),
    DESKTOP,
    1800,
  ]),
  ['explorer-phone-light', ON_PHONE.map(view => `view-${view}-phone-light`), PHONE, 1800],
  ['explorer-phone-dark', ON_PHONE.map(view => `view-${view}-phone-dark`), PHONE, 1800],
  [
    'explorer-phone-boards',
    BOARDS_ON_PHONE.map((view, i) => `view-${view}-phone-${i < 2 ? 'light' : 'dark'}`),
    PHONE,
    1500,
  ],
];

ensureInstalled();
const executablePath = findChromium(say);
if (executablePath === undefined) {
  say('there is no Chromium, and it could not be installed with apt-get as root');
  process.exit(1);
}
const { chromium } = await import('playwright-core');
const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
try {
  for (const picture of PICTURES) await make(...picture);
} finally {
  await browser.close();
}
const names = new Set(PICTURES.map(([name]) => `${name}.jpg`));
for (const file of readdirSync(IMAGES)) if (!names.has(file)) rmSync(join(IMAGES, file));

async function make(name, screenshots, [width, height], pictureWidth) {
  const each = pictureWidth / screenshots.length;
  const pictureHeight = Math.round((each * height) / width);
  const images = screenshots.map(screenshot => {
    const png = readFileSync(join(SCREENSHOTS, `${screenshot}.png`)).toString('base64');
    return `<img src="data:image/png;base64,${png}" width="${each}" height="${pictureHeight}">`;
  });
  const page = await browser.newPage({ viewport: { width: pictureWidth, height: pictureHeight } });
  await page.setContent(`<body style="margin: 0; display: flex">${images.join('')}`);
  await page.screenshot({ path: join(IMAGES, `${name}.jpg`), type: 'jpeg', quality: QUALITY });
  await page.close();
  say(`${name}.jpg  ${pictureWidth}x${pictureHeight}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
