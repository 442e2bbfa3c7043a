import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { panelApiFiles } from '#scripts/panel-api.ts';
import { startTestPanel, type TestPanel } from '../support/panel.ts';

interface Operation {
  readonly operationId: string;
  readonly 'x-permissions': { readonly all?: readonly string[]; readonly any?: readonly string[] };
  readonly requestBody?: object;
}

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const document = JSON.parse(read('docs/panel-openapi.json')) as {
  openapi: string;
  components: { securitySchemes: object };
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);

let panel: TestPanel;

beforeAll(async () => {
  panel = await startTestPanel();
});

afterAll(() => panel.stop());

it('the files are what the routes give; `node scripts/panel-api.ts` writes them', () => {
  for (const [path, text] of Object.entries(panelApiFiles()))
    expect({ [path]: read(path) === text }).toEqual({ [path]: true });
});

it('the documents have exactly the routes that the running panel opens to tokens, with what each needs', () => {
  const open = panel.panel.routes.filter(({ access }) => access.token === true);
  const names = open.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  expect(operations.map(([name]) => name).sort()).toEqual(names.sort());
  const page = [...read('docs/panel-api.md').matchAll(/^\| `((?:GET|POST) [^`]+)`/gm)].map(([, name]) => name);
  expect(page.sort()).toEqual(names.sort());
  for (const { method, path, access, body } of open) {
    const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    const expected = 'permissions' in access ? { [access.kind]: access.permissions } : { all: [] };
    expect({ [path]: operation?.['x-permissions'] }).toEqual({ [path]: expected });
    expect({ [path]: operation?.requestBody !== undefined }).toEqual({ [path]: body !== undefined });
  }
});

it('it is OpenAPI 3.1 with bearer tokens, and each operation has a name of its own', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', security: [{ token: [] }] });
  expect(document.components.securitySchemes).toMatchObject({ token: { type: 'http', scheme: 'bearer' } });
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});
