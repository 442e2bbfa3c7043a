import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findCircles } from '#scripts/check/import-circles.ts';
import { readSources } from '#scripts/check/import-directions.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

it('finds a planted circle, of types and of # imports too, and nothing beside it', () => {
  const files = [
    { path: 'sidecar/a.ts', text: "import type { B } from './b.ts';" },
    { path: 'sidecar/b.ts', text: "export { c } from '#sidecar/c.ts';" },
    { path: 'sidecar/c.ts', text: "const a = await import('./a.ts');" },
    { path: 'sidecar/user.ts', text: "import './a.ts';\nimport './leaf.ts';" },
    { path: 'sidecar/leaf.ts', text: '' },
  ];
  expect(findCircles(files)).toEqual([['sidecar/a.ts', 'sidecar/b.ts', 'sidecar/c.ts']]);
});

it('finds none in the source', () => {
  expect(findCircles(readSources(ROOT))).toEqual([]);
});
