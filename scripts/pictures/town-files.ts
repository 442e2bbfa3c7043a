import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';

interface TownBundle {
  readonly name: string;
  readonly manifest: object;
  /** Lines of its start. */
  readonly says: readonly string[];
}

const BUNDLES: readonly TownBundle[] = [
  {
    name: 'core',
    manifest: { version: '2.4.1', description: 'Characters, money and inventory', tags: ['core'] },
    says: ['schema game is current (revision 14)', 'loaded 312 items and 48 jobs'],
  },
  {
    name: 'garage',
    manifest: {
      version: '1.3.0',
      description: 'Vehicles, keys and insurance',
      dependencies: ['core'],
      tags: ['world'],
    },
    says: ['1,204 vehicles are parked'],
  },
  {
    name: 'housing',
    manifest: { version: '0.9.2', description: 'Flats, doors and furniture', dependencies: ['core'], tags: ['world'] },
    says: ['87 doors are locked'],
  },
  {
    name: 'fishing',
    manifest: {
      version: '1.1.0',
      description: 'Boats, nets and the market',
      dependencies: ['core'],
      tags: ['economy'],
    },
    says: ['the market opens at 06:00'],
  },
  {
    name: 'police',
    manifest: { version: '3.0.4', description: 'Dispatch, fines and evidence', dependencies: ['core'], tags: ['jobs'] },
    says: ['dispatch listens on channel 1'],
  },
  {
    name: 'casino',
    manifest: { version: '0.4.0', description: 'Closed until the weekend', autostart: false, tags: ['economy'] },
    says: [],
  },
];

/** A server's folder with the bundles of a small town. */
export function writeTown(root: string): void {
  for (const { name, manifest, says } of BUNDLES) {
    const folder = join(root, 'bundles', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ server: 'server.js', ...manifest }));
    const lines = says.map((line) => `console.log(${JSON.stringify(`[${name}] ${line}`)});`);
    writeFileSync(join(folder, 'server.js'), `export default () => {\n${lines.join('\n')}\n};\n`);
  }
}

/** An archive as its author would send it: one new bundle, and newer versions of two. */
export function townArchive(): Uint8Array {
  const newer = [
    { name: 'fishing', version: '1.2.0', description: 'Boats, nets, the market and weather', dependencies: ['core'] },
    { name: 'garage', version: '1.4.0', description: 'Vehicles, keys and insurance', dependencies: ['core'] },
    { name: 'lighthouse', version: '1.0.0', description: 'A light that ships see', dependencies: ['core'] },
  ];
  const files = newer.flatMap(({ name, ...manifest }) => [
    [`${name}/bundle.json`, strToU8(JSON.stringify({ server: 'server.js', ...manifest }))] as const,
    [`${name}/server.js`, strToU8(`export default () => console.log('[${name}] ready');\n`)] as const,
    [`${name}/README.md`, strToU8(`# ${name}\n`)] as const,
  ]);
  return zipSync(Object.fromEntries(files));
}

/** A shop at two moments of two branches, with one conflict. */
export function shopFiles(changes: Readonly<Record<string, string>>): Record<string, string> {
  const goods = ['bread', 'water', 'rope', 'bait', 'lantern', 'map', 'radio', 'spare tyre', 'first aid kit', 'battery'];
  const prices = goods.map((name, index) => `  ['${name}'] = ${changes[name] ?? (index + 2) * 4},`);
  const discount = changes.discount === undefined ? [] : ['', `local discount = ${changes.discount}`];
  return {
    'bundle.json': '{ "version": "1.0.0", "server": "server.lua" }\n',
    'prices.lua': `return {\n${prices.join('\n')}\n}\n`,
    'server.lua': `${["local prices = require 'prices'", ...discount, '', 'exports("price", function(name)', '  return prices[name]', 'end)'].join('\n')}\n`,
  };
}
