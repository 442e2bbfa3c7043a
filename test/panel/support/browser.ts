import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { provideChromium } from '#scripts/servers/chromium-program.ts';

export type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** A busy machine stalls. */
const PATIENCE_MS = 30_000;

/**
 * Not in the tests' browser. The last such switch counts: the first lines are what Playwright turns off on Linux. The last line is
 * two pages of the address bar, which Chromium loads for each window, in a process of their own: nearly half of all its work.
 */
const FEATURES_OFF = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'LensOverlay'],
  ...['HttpsFirstBalancedModeAutoEnable', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'AimEnabled'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'PreconnectToSearch'],
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
];
const SWITCHES = [
  // Chromium's own sandbox cannot be had by root in a container.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  `--disable-features=${FEATURES_OFF.join(',')}`,
];

/** null if there is a browser, else the reason why not: `describeIf(why, 'pages', …)`. */
export async function whyNoBrowser(): Promise<string | null> {
  try {
    await provideChromium(() => {});
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export interface View {
  readonly theme?: 'light' | 'dark';
  /** 1440 is a desk, 390 a phone. */
  readonly width?: number;
  readonly locale?: string;
  /** A finger in place of a mouse. */
  readonly touch?: boolean;
}

/** A Chromium for a file of tests; each visitor has cookies of their own. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  /** Complaints of the pages: failed scripts, refusals by the policy. Every visit must leave it empty. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    const executablePath = await provideChromium(() => {});
    return new TestBrowser(await chromium.launch({ executablePath, args: SWITCHES }));
  }

  /** A visitor: nobody is signed in. */
  async visit(
    address: string,
    { theme = 'light', width = 1440, locale = 'en', touch = false }: View = {},
  ): Promise<Page> {
    const height = width < 600 ? 844 : 900;
    const look = { colorScheme: theme, viewport: { width, height }, locale, hasTouch: touch, isMobile: touch };
    const context = await this.#browser.newContext(look);
    context.setDefaultTimeout(PATIENCE_MS);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      // Refusals are answers of the panel; the browser writes a line for each.
      const isRefusal = /Failed to load resource|net::ERR_/.test(message.text());
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && origin !== new URL(address).origin) this.complaints.push(`asked ${request.url()}`);
    });
    await page.goto(address);
    return page;
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    await this.#browser.close();
  }
}

/** By labels and roles, as a person does it; English. */
export async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('navigation', { name: 'Pages' })
    .or(page.getByRole('button', { name: 'Open menu' }))
    .first()
    .waitFor();
}

/** The value of a field that the page fills, such as a secret: `inputValue()` does not wait until there is one. */
export async function shownValue(field: Locator): Promise<string> {
  await expect.poll(() => field.inputValue()).not.toBe('');
  return field.inputValue();
}

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Serious findings of axe, in words: empty is good. */
async function axeFindings(page: Page): Promise<string[]> {
  // By the debugger's protocol, so that the page's policy has no say. Once for a document, until it is loaded again.
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(AXE);
  const findings = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as Finding[];
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

/** In both themes, one after the other, as they are shown now. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await axeFindings(page), colorScheme).toEqual([]);
  }
}
