/**
 * Assertions that wait. A page draws what it shows in several steps, so a value that is read once may be the one before: of the
 * query before, or of a list that is not drawn yet.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';

/** Bounds of waits, not measures. */
export const WAIT_MS = 20_000;
const PAUSE_MS = 50;
/** Also if a loaded machine takes longer than the bound for the first of them. */
const MIN_TRIES = 3;

/** Reads until `check` does not throw, and returns what was read last. At the deadline it throws the last error. */
export async function eventually<T>(read: () => Promise<T>, check: (value: T) => void): Promise<T> {
  const deadline = Date.now() + WAIT_MS;
  for (let tries = 1; ; tries++) {
    try {
      const value = await read();
      check(value);
      return value;
    } catch (error) {
      if (tries >= MIN_TRIES && Date.now() > deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

/** Waits for that number of elements. */
export async function untilCount(locator: Locator, count: number): Promise<void> {
  await eventually(
    () => locator.count(),
    found => assert.equal(found, count),
  );
}

/** Waits until the elements have exactly these texts, in this order. */
export async function untilTexts(locator: Locator, texts: readonly string[]): Promise<void> {
  await eventually(
    () => locator.allTextContents(),
    found => assert.deepEqual(found, texts),
  );
}

/** Waits until the element has exactly this text, or one that matches. */
export async function untilText(locator: Locator, text: string | RegExp): Promise<void> {
  await eventually(
    async () => (await locator.textContent()) ?? '',
    found => (typeof text === 'string' ? assert.equal(found, text) : assert.match(found, text)),
  );
}

/** Waits until a part of the page, by default all of it, is as wide as it may be. */
export async function untilFits(page: Page, width: number, selector = 'html'): Promise<void> {
  await eventually(
    () => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollWidth`),
    found => assert.equal(found, width),
  );
}

/** Waits until the element is in the same place in two frames, and returns where. */
export async function untilStill(locator: Locator): Promise<Box> {
  const { box } = await eventually(
    async () => {
      const before = await locator.boundingBox();
      await locator.page().evaluate('new Promise(resolve => requestAnimationFrame(() => resolve()))');
      return { before, box: (await locator.boundingBox()) as Box };
    },
    ({ before, box }) => {
      assert.ok(box);
      assert.deepEqual(box, before);
    },
  );
  return box;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
