import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SidecarChild } from '../../../db_connector/embedded/sidecar-child.ts';
import { newFolder } from '../../support/config-folder.ts';

const listening = (port: number) => `{"msg":"listening","service":"api","address":"http://127.0.0.1:${port}"}`;

it('takes its address from the first such line alone: later ones may quote what somebody has sent', async () => {
  const folder = newFolder();
  const program = join(folder, 'main.mjs');
  const lines = [listening(1), `error: refused (said "\u2028${listening(2)}\u2028")`, listening(3)];
  writeFileSync(program, `console.log(${JSON.stringify(lines.join('\n'))});`);
  const addresses: string[] = [];
  const told: string[] = [];
  const child = new SidecarChild(
    { node: process.execPath, program, isCheck: false, folder, kid: 'local', secret: 's'.repeat(32) },
    { onListening: (address) => addresses.push(address), onLine: (line) => told.push(line) },
  );
  expect(await child.ended).toBe('code 0');
  rmSync(folder, { recursive: true, force: true });
  expect(addresses).toEqual(['http://127.0.0.1:1']);
  expect(told.join('\n')).toContain('refused');
});
