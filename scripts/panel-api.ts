// `node scripts/panel-api.ts`: writes docs/panel-api.md and docs/panel-openapi.json. A test holds that the files are what this gives.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildPanelDocument } from './panel-api/document.ts';
import { panelPage } from './panel-api/page.ts';

const ROOT = new URL('../', import.meta.url);

/** Text of each file, by its path in the project. */
export function panelApiFiles(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
  return {
    'docs/panel-api.md': panelPage(),
    'docs/panel-openapi.json': `${JSON.stringify(buildPanelDocument(version), null, 2)}\n`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(panelApiFiles())) {
    writeFileSync(new URL(path, ROOT), text);
    console.log(`wrote ${path}`);
  }
}
