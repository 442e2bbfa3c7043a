import { writeFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { provideChromium } from '#scripts/servers/chromium-program.ts';

const VIEW = { width: 1440, height: 900 } as const;
const QUALITY = 78;

/** A desk of 1440 in the light theme, English, by Debian's Chromium. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = await provideChromium((line) => console.log(line));
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export async function openPage(browser: Browser, address: string): Promise<Page> {
  const options = { colorScheme: 'light', reducedMotion: 'reduce', viewport: VIEW, locale: 'en' } as const;
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(address);
  return page;
}

/** WebP, which only the debugger's protocol offers. Returns the bytes. */
export async function takePicture(page: Page, file: string, height: number = VIEW.height): Promise<number> {
  await page.setViewportSize({ ...VIEW, height });
  await page.evaluate('document.activeElement?.blur()');
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await session.detach();
  const bytes = Buffer.from(data, 'base64');
  writeFileSync(file, bytes);
  return bytes.length;
}
