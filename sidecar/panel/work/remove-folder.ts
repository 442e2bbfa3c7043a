import { rmSync } from 'node:fs';

export async function removeFolder({ folder }: { readonly folder: string }): Promise<void> {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
