import { afterEach, describe, expect, it } from 'vitest';
import { StandaloneProcess } from './standalone-process.ts';

const servers: StandaloneProcess[] = [];

function newServer(): StandaloneProcess {
  const server = new StandaloneProcess();
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.remove()));
});

const QUIET = 'export default () => {};';

describe('a start', () => {
  it('brings bundles up in the order of their dependencies, whatever their names', async () => {
    const server = newServer();
    server.bundle('a_top', "export default (host) => host.log('up');", { dependencies: ['m_middle', 'z_base'] });
    server.bundle('m_middle', "export default async (host) => { await 1; host.log('up'); };", {
      dependencies: ['z_base'],
    });
    server.bundle(
      'z_base',
      "export default async (host) => { await 1; host.log('up ' + host.vfs); return () => {}; };",
    );
    await server.start();
    const ups = server.lines.filter((line) => line.includes('] up'));
    expect(ups).toEqual([`[z_base] up ${server.root}/vfs`, '[m_middle] up', '[a_top] up']);
    expect(server.lines[0]).toMatch(/^Standalone game server \d+\.\d+\.\d+, Node\.js v\d+/);
    expect(server.lines.join('\n')).toContain(server.root);
    expect(server.lines.at(-1)).toMatch(/^3 of 3 bundles started\./);
  });

  it('goes on where bundles fail, and says why each of them did', async () => {
    const server = newServer();
    server.bundle('throws', "export default () => { throw new Error('no configuration'); };");
    server.bundle('rejects', "export default async () => { throw new TypeError('not a number'); };");
    server.bundle('lacks', QUIET, { dependencies: ['not_there'] });
    server.bundle('needs_failed', QUIET, { dependencies: ['throws'] });
    server.bundle('ring_a', QUIET, { dependencies: ['ring_b'] });
    server.bundle('ring_b', QUIET, { dependencies: ['ring_c'] });
    server.bundle('ring_c', QUIET, { dependencies: ['ring_a'] });
    server.bundle('broken', "import './part.js'; export default () => {};");
    server.file('bundles/broken/package.json', '{ "type": "module" }');
    server.file('bundles/broken/part.js', 'const fine = 1;\nconst broken = ;\n');
    server.bundle('no_start', 'export const start = 1;');
    server.bundle('unknown_word', QUIET, { depends: ['x'] });
    server.bundle('good', QUIET);
    server.file('bundles/not_a_bundle/readme.txt', '');
    await server.start();
    const said = server.lines.join('\n');
    expect(said).toMatch(/^FAILED {2}throws: Error: no configuration\n.*throws\/server\.js:1/m);
    expect(said).toMatch(/^FAILED {2}rejects: TypeError: not a number/m);
    expect(said).toMatch(/^FAILED {2}lacks: .*not_there/m);
    expect(said).toMatch(/^FAILED {2}needs_failed: .*throws, which is failed/m);
    expect(said).toMatch(/^FAILED {2}ring_a: .*ring_a → ring_b → ring_c → ring_a/m);
    expect(said).toMatch(/^FAILED {2}broken: .*\n.*broken\/part\.js:2\nconst broken = ;/m);
    expect(said).toMatch(/^FAILED {2}no_start: .*default export/m);
    expect(said).toMatch(/^FAILED {2}unknown_word: bundle\.json: depends: unknown/m);
    expect(said).toContain('not_a_bundle is ignored');
    expect(server.lines.at(-1)).toMatch(/^1 of 11 bundles started, 10 FAILED/);
    expect(await server.ask('bundles', /^lacks /)).toMatch(/failed +1\.0\.0 +.*not_there/);
    expect(await server.ask('bundles', /^good /)).toMatch(/started/);
  });

  it('that never ends holds nobody else up, and can be stopped', async () => {
    const server = newServer();
    server.bundle(
      'endless',
      'export default (host) => { host.exports.register("x", () => {}); return new Promise(() => {}); };',
    );
    server.bundle('waits', QUIET, { dependencies: ['endless'] });
    server.bundle(
      'other',
      'export default (host) => { host.commands.register("state", "", ([name], reply) => reply(host.state(name))); };',
    );
    void server.start();
    await server.line(/^started other/);
    expect(await server.ask('state endless', /^\w+$/)).toBe('starting');
    await server.ask('stop endless', /^stopped endless/);
    expect(await server.ask('state endless', /^\w+$/)).toBe('stopped');
    expect(await server.ask('state waits', /^\w+$/)).toBe('stopped');
    expect(await server.ask('state nobody', /^\w+$/)).toBe('missing');
  });

  it('leaves out what does not start by itself, until it is needed or asked for', async () => {
    const server = newServer();
    server.bundle('library', QUIET, { autostart: false });
    server.bundle('tool', QUIET, { autostart: false });
    server.bundle('user', QUIET, { dependencies: ['library'] });
    await server.start();
    expect(await server.ask('bundles', /^library /)).toMatch(/started/);
    expect(await server.ask('bundles', /^tool /)).toMatch(/stopped/);
    await server.ask('start tool', /^started tool/);
    server.bundle('dropped_in', QUIET);
    await server.ask('start dropped_in', /^started dropped_in/);
  });
});

const SHOP = `export default (host) => {
  host.exports.register('Price', function (item, options) { return { item, options, caller: this.caller }; });
  host.commands.register('shop', 'opens it', () => {});
  return () => { host.log('closing, town is ' + host.state('town')); };
};`;

const TOWN = `export default (host) => {
  host.on('bundle', ({ bundle, state }) => host.log('heard ' + bundle + ' ' + state));
  host.commands.register('words', 'shows its words', (args, reply) => reply('words ' + JSON.stringify(args)));
  host.commands.register('price', 'asks the shop', (args, reply) => {
    try { reply('price ' + JSON.stringify(host.exports.call('shop', 'Price', ...args))); } catch (error) { reply('error ' + error.message); }
  });
  host.commands.register('big', 'cannot be copied', (args, reply) => {
    try { host.exports.call('shop', 'Price', 5n); } catch (error) { reply('error ' + error.message); }
  });
  host.commands.register('throws', '', () => { throw new Error('a slip'); });
  host.commands.register('rejects', '', async () => { throw new Error('a late slip'); });
  host.commands.register('timer', '', () => { setTimeout(() => { throw new Error('in a timer'); }); });
  host.commands.register('promise', '', () => { void Promise.reject(new Error('in a promise')); });
  try { host.commands.register('shop', 'mine', () => {}); } catch (error) { host.log(error.message); }
  return async () => { await new Promise((resolve) => setTimeout(resolve, 50)); host.log('saved'); };
};`;

function newTown(): StandaloneProcess {
  const server = newServer();
  server.bundle('shop', SHOP, { description: 'sells' });
  server.bundle('town', TOWN, { dependencies: ['shop'] });
  return server;
}

describe('the console', () => {
  it('splits words, and answers what it does not understand', async () => {
    const server = await newTown().start();
    expect(await server.ask(`words a 'b c' "d \\" e"`, /^words/)).toBe('words ["a","b c","d \\" e"]');
    expect(await server.ask('words "open', /quote/)).toContain('not closed');
    expect(await server.ask('nonsense 1', /nonsense/)).toContain('Unknown command');
    expect(await server.ask('start', /Usage/)).toBe('Usage: start NAME');
    expect(await server.ask('start ../shop', /no bundle/)).toContain('../shop');
    expect(await server.ask('help', /^words/)).toMatch(/^words +town +shows its words$/);
    expect(await server.ask('help', /^quit/)).toContain('ends the server');
    expect(await server.ask('say The server restarts in 5 min', /^say: /)).toBe('say: The server restarts in 5 min');
    expect(await server.ask('say', /^Usage/)).toBe('Usage: say TEXT');
  });

  it('lives through whatever a bundle throws, and names the bundle', async () => {
    const server = await newTown().start();
    expect(await server.ask('throws', /a slip/)).toMatch(/throws.*town/);
    expect(await server.ask('rejects', /a late slip/)).toMatch(/rejects.*town/);
    expect(await server.ask('timer', /in a timer/)).toMatch(/^!!! .*bundle town/);
    expect(await server.ask('promise', /in a promise/)).toMatch(/^!!! .*bundle town/);
    expect(await server.ask('words still there', /^words/)).toContain('still');
  });
});

describe('bundles among each other', () => {
  it('call exports, by copies, with the name of the caller', async () => {
    const server = await newTown().start();
    expect(await server.ask('price car', /^price/)).toBe('price {"item":"car","options":null,"caller":"town"}');
    expect(await server.ask('big', /^error/)).toMatch(/BigInt/);
  });

  it('do not take each other a command away', async () => {
    const server = await newTown().start();
    expect(server.lines.join('\n')).toMatch(/\[town\] The command shop belongs to bundle shop already/);
  });

  it('stop with what they depend on, before it, and are not started again', async () => {
    const server = await newTown().start();
    await server.ask('stop shop', /^stopped shop/);
    const order = server.lines.filter((line) => /saved|closing|^stopped/.test(line));
    expect(order).toEqual(['[town] saved', 'stopped town', '[shop] closing, town is stopped', 'stopped shop']);
    expect(await server.ask('words', /words/)).toContain('Unknown command');
    expect(await server.ask('shop', /shop/)).toContain('Unknown command');
    await server.ask('start shop', /^started shop/);
    expect(await server.ask('bundles', /^town /)).toMatch(/stopped/);
    await server.ask('start town', /^started town/);
    expect(await server.ask('price car', /^price/)).toContain('car');
  });

  it('hear of each other, and lose exports that are gone', async () => {
    const server = newServer();
    server.bundle('shop', SHOP);
    server.bundle('town', TOWN);
    await server.start();
    expect(await server.ask('stop shop', /heard shop/)).toBe('[town] heard shop stopped');
    expect(await server.ask('price car', /^error/)).toBe('error No such export Price in bundle shop');
    expect(await server.ask('start shop', /heard shop started/)).toBe('[town] heard shop started');
    expect(await server.ask('price car', /^price/)).toContain('car');
  });
});

describe('a restart', () => {
  it('runs what lies in the folder now, imported files too', async () => {
    const server = newServer();
    server.bundle('shop', "import { what } from './what.js'; export default (host) => host.log('sells ' + what);");
    server.bundle('town', QUIET, { dependencies: ['shop'] });
    server.bundle('far', QUIET, { dependencies: ['town'] });
    server.file('bundles/shop/what.js', "export const what = 'apples';");
    await server.start();
    expect(server.lines.join('\n')).toContain('[shop] sells apples');
    server.file('bundles/shop/what.js', "export const what = 'pears';");
    await server.ask('restart shop', /sells pears/);
    expect(await server.line(/not started again/)).toContain('far, town');
  });

  it('brings a bundle back that had failed, once its reason is gone', async () => {
    const server = newServer();
    server.bundle('shop', "throw new Error('unfinished');");
    await server.start();
    expect(server.lines.join('\n')).toMatch(/FAILED {2}shop: Error: unfinished/);
    server.bundle('shop', QUIET);
    await server.ask('restart shop', /^started shop/);
  });
});

describe('the end', () => {
  it.each(['quit', 'SIGTERM', 'SIGINT'] as const)('by %s lets bundles save, and is clean', async (how) => {
    const server = await newTown().start();
    if (how === 'quit') server.type('quit');
    else server.signal(how);
    expect(await server.exit()).toBe(0);
    const order = server.lines.filter((line) => /saved|closing/.test(line));
    expect(order).toEqual(['[town] saved', '[shop] closing, town is stopped']);
  });

  it('does not come with the end of standard input', async () => {
    const server = newServer();
    server.bundle(
      'clock',
      "export default (host) => { process.stdin.on('close', () => setTimeout(() => host.log('still here'), 200)); };",
    );
    await server.start();
    server.closeInput();
    await server.line(/still here/);
    server.signal('SIGTERM');
    expect(await server.exit()).toBe(0);
  });

  it('comes in time although stop functions hang, and all of them are called', async () => {
    const server = newServer();
    const hang = (name: string) =>
      `export default () => () => { console.log('asked ${name}'); return new Promise(() => {}); };`;
    server.bundle('base', hang('base'));
    server.bundle('middle', hang('middle'), { dependencies: ['base'] });
    server.bundle('top', "export default (host) => () => { throw new Error('top fails'); };", {
      dependencies: ['middle'],
    });
    await server.start();
    const began = performance.now();
    server.type('quit');
    expect(await server.exit()).toBe(0);
    expect(performance.now() - began).toBeLessThan(14_500);
    const said = server.lines.join('\n');
    expect(said).toMatch(/top: its stop function threw: Error: top fails/);
    expect(said).toMatch(/middle: its stop function did not end/);
    expect(said).toContain('asked base');
  });

  it('of a server that cannot begin is one clear line', async () => {
    const server = newServer();
    await server.start(['--root', `${server.root}/nowhere`]);
    expect(await server.exit()).toBe(1);
    expect(server.lines[0]).toBe(`--root: there is no folder ${server.root}/nowhere/bundles`);
    const other = newServer();
    await other.start(['--rot', 'x']);
    expect(await other.exit()).toBe(1);
    expect(other.lines[0]).toContain('--rot');
  });
});
