// `node scripts/openapi.ts`: writes docs/openapi.json. A test holds that the file is what this gives.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDocument } from './openapi/document.ts';

export const OPENAPI_FILE = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));

export function openapiText(): string {
  return `${JSON.stringify(buildDocument(), null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(OPENAPI_FILE, openapiText());
  console.log(`wrote ${OPENAPI_FILE}`);
}
