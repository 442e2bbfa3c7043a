import { afterEach, describe, expect, it, vi } from 'vitest';
import { PanelError } from '#panel/panel-error.ts';
import type { SettingValues } from '#panel/settings/panel-settings.ts';
import { fakeLine, isGone, ServerRig, SHORT_WAITS } from '#test/panel/support/server-rig.ts';

const rigs: ServerRig[] = [];

function newRig(changes: Partial<SettingValues> = {}, folder?: string): ServerRig {
  const rig = new ServerRig(changes, folder);
  rigs.push(rig);
  return rig;
}

afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.remove()));
});

function keyOf(action: () => unknown): string {
  try {
    action();
    return 'accepted';
  } catch (error) {
    if (error instanceof PanelError) return error.key;
    throw error;
  }
}

/** Whether its parent has read its end. */
function isReaped(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

const actionsOf = (status: ReturnType<ServerRig['control']['status']>) =>
  status.plan?.steps.map(({ action }) => action);

describe('refused', () => {
  it('are a stop, and a command, while nothing runs', () => {
    const { control, lines } = newRig();
    expect(keyOf(() => control.stop('anna'))).toBe('server.stopped');
    expect(keyOf(() => control.sendCommand('say hi', 'anna'))).toBe('server.stopped');
    expect(control.status()).toMatchObject({ state: 'stopped', pid: null, exit: null, plan: null });
    expect(lines).toEqual([]);
  });

  it('is a start while it runs, also while it stops', async () => {
    const rig = newRig({ ...SHORT_WAITS, startLine: fakeLine('--ignore-stop') });
    await rig.started();
    expect(keyOf(() => rig.control.start('anna'))).toBe('server.running');
    rig.control.stop('anna');
    expect(keyOf(() => rig.control.start('anna'))).toBe('server.running');
    await rig.reaches('stopped');
    expect(rig.runs).toBe(1);
  });

  it('is everything where something else runs the server', () => {
    const { control } = newRig({ backend: 'none' });
    const actions = [
      () => control.start('anna'),
      () => control.stop('anna'),
      () => control.restart('anna'),
      () => control.forceStop('anna'),
      () => control.sendCommand('say hi', 'anna'),
    ];
    expect(actions.map(keyOf)).toEqual(actions.map(() => 'server.elsewhere'));
  });

  it('is a second restart, and one while it stops', async () => {
    const rig = newRig({ ...SHORT_WAITS, startLine: fakeLine('--ignore-stop') });
    await rig.started();
    rig.control.restart('anna');
    expect(keyOf(() => rig.control.restart('anna'))).toBe('server.busy');
    rig.control.stop('anna');
    expect(keyOf(() => rig.control.restart('anna'))).toBe('server.busy');
    await rig.reaches('stopped');
  });
});

describe('a stop', () => {
  it('asks by the stop line, and that is enough for a server that obeys', async () => {
    const rig = newRig();
    const pid = await rig.started();
    expect(rig.control.status()).toMatchObject({ state: 'running', pid });
    const { state, plan } = rig.control.stop('anna');
    expect(state).toBe('stopping');
    expect(plan?.steps.map(({ action }) => action)).toEqual(['ask', 'terminate', 'kill']);
    expect(plan?.next).toBe(1);
    const [asked, terminated, killed] = plan?.steps.map(({ at }) => Date.parse(at)) ?? [];
    expect([Number(terminated) - Number(asked), Number(killed) - Number(terminated)]).toEqual([20_000, 10_000]);
    const status = await rig.reaches('stopped');
    expect(status).toMatchObject({ pid: null, startedAt: null, plan: null });
    expect(status.exit).toEqual({ code: 0, signal: null, reason: 'asked' });
    expect(rig.texts('in')).toEqual(['panel> quit']);
    expect(rig.texts('out').at(-1)).toBe('bye');
    expect(rig.crashes.list()).toEqual([]);
  });

  it('terminates what does not listen, and kills what does not end', async () => {
    const rig = newRig({ ...SHORT_WAITS, startLine: fakeLine('--ignore-stop', '--ignore-sigterm') });
    const pid = await rig.started();
    rig.control.stop('anna');
    expect((await rig.reaches('stopped')).exit).toEqual({ code: null, signal: 'SIGKILL', reason: 'asked' });
    expect(rig.texts('out')).toContain('no');
    expect(isGone(pid)).toBe(true);
    const nexts = rig.statuses.flatMap(({ plan }) => plan?.next ?? []);
    expect([...new Set(nexts)]).toEqual([1, 2, 3]);
  });

  it('begins with the end of the process where there is no stop line', async () => {
    const rig = newRig({ stopLine: '' });
    await rig.started();
    expect(actionsOf(rig.control.stop('anna'))).toEqual(['terminate', 'kill']);
    expect((await rig.reaches('stopped')).exit).toEqual({ code: null, signal: 'SIGTERM', reason: 'asked' });
  });

  it('kills at once where the owner said so', async () => {
    const rig = newRig({ shutdownMode: 'immediate', stopWaitSeconds: 600, killWaitSeconds: 600 });
    await rig.started();
    expect(actionsOf(rig.control.stop('anna'))).toEqual(['kill']);
    expect((await rig.reaches('stopped')).exit).toEqual({ code: null, signal: 'SIGKILL', reason: 'asked' });
    expect(rig.texts('in')).toEqual([]);
  });

  it('takes along what the server has started, also what ignores SIGTERM', async () => {
    const rig = newRig({ killWaitSeconds: 0.3, startLine: fakeLine('--grandchild', '--stubborn-grandchild') });
    await rig.started();
    const grandchildren = () => rig.texts('out').flatMap((text) => Number(/^grandchild (\d+)/.exec(text)?.[1]) || []);
    await expect.poll(() => grandchildren().length).toBe(2);
    rig.control.stop('anna');
    expect((await rig.reaches('stopped')).exit).toEqual({ code: 0, signal: null, reason: 'asked' });
    expect(grandchildren().map(isGone)).toEqual([true, true]);
  });

  it('by force overtakes the waits', async () => {
    const rig = newRig({ startLine: fakeLine('--ignore-stop'), stopWaitSeconds: 600, killWaitSeconds: 600 });
    await rig.started();
    rig.control.stop('anna');
    expect(actionsOf(rig.control.forceStop('bob'))).toEqual(['kill']);
    await rig.reaches('stopped');
    expect(rig.control.forceStop('bob').state).toBe('stopped');
  });

  it('that comes later wins over a restart', async () => {
    const rig = newRig({ ...SHORT_WAITS, startLine: fakeLine('--ignore-stop') });
    await rig.started();
    expect(actionsOf(rig.control.restart('anna'))).toEqual(['ask', 'terminate', 'kill', 'start']);
    expect(actionsOf(rig.control.stop('bob'))).toEqual(['ask', 'terminate', 'kill']);
    await rig.reaches('stopped');
    expect(rig.runs).toBe(1);
  });

  it('typed by somebody is no crash either', async () => {
    const rig = newRig({ autoStartServer: true });
    await rig.started();
    rig.control.sendCommand('quit', 'anna');
    expect((await rig.reaches('stopped')).exit).toEqual({ code: 0, signal: null, reason: 'asked' });
    expect(rig.texts('in')).toEqual(['anna> quit']);
  });
});

describe('a restart', () => {
  it('stops and starts; while nothing runs it is a start', async () => {
    const rig = newRig();
    expect(rig.control.restart('anna').state).toBe('starting');
    await rig.line(/^ready/);
    const first = rig.control.status().pid;
    rig.control.restart('anna');
    await expect.poll(() => rig.texts('out').filter((text) => text.startsWith('ready')).length).toBe(2);
    const status = await rig.reaches('running');
    expect(status.pid).not.toBe(first);
    expect(status.exit).toEqual({ code: 0, signal: null, reason: 'asked' });
    expect(rig.runs).toBe(2);
  });
});

describe('fifty clicks at once', () => {
  it('on start make one server', async () => {
    const rig = newRig();
    const keys = Array.from({ length: 50 }, () => keyOf(() => rig.control.start('anna')));
    expect(keys.filter((key) => key === 'accepted')).toHaveLength(1);
    expect(new Set(keys)).toEqual(new Set(['accepted', 'server.running']));
    await rig.line(/^ready/);
    expect(rig.runs).toBe(1);
  });

  it('on everything end in one clear state, without a process that nobody knows of', async () => {
    const rig = newRig({ stopWaitSeconds: 0, killWaitSeconds: 0 });
    await rig.started();
    const actions = ['start', 'stop', 'restart', 'forceStop', 'start'] as const;
    for (let click = 0; click < 50; click++) keyOf(() => rig.control[actions[click % 5] ?? 'stop']('anna'));
    keyOf(() => rig.control.stop('anna'));
    const { pid, plan, exit } = await rig.reaches('stopped');
    expect({ pid, plan, reason: exit?.reason }).toEqual({ pid: null, plan: null, reason: 'asked' });
    const pids = rig.texts().flatMap((text) => Number(/process (\d+)$/.exec(text)?.[1]) || []);
    expect(pids).toHaveLength(rig.runs);
    expect(pids.every(isGone)).toBe(true);
  });
});

describe('a crash', () => {
  it('leaves a record of what somebody wants to know', async () => {
    const rig = newRig();
    await rig.started();
    rig.control.sendCommand('crash 7', 'anna');
    const status = await rig.reaches('crashed');
    expect(status).toMatchObject({ pid: null, plan: null, gaveUp: null });
    expect(status.exit).toEqual({ code: 7, signal: null, reason: 'crash' });
    const [summary, ...others] = rig.crashes.list();
    expect(others).toEqual([]);
    expect(summary).toMatchObject({ exit: status.exit, wasUp: true, failure: null });
    const record = rig.crashes.get(String(summary?.id));
    const texts = record.lines.map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(['anna> crash 7', 'The server crashed (exit code 7)']));
    expect(record.actions).toHaveLength(1);
    expect(keyOf(() => rig.crashes.get('999'))).toBe('crashes.unknown');
    expect(keyOf(() => rig.crashes.get('1 OR 1=1'))).toBe('crashes.unknown');
  });

  it('is followed by a start that can be seen before, and a stop cancels it', async () => {
    const rig = newRig({ autoStartServer: true });
    await rig.started();
    rig.control.sendCommand('kill', 'anna');
    await expect.poll(() => rig.texts('out').filter((text) => text.startsWith('ready')).length).toBe(2);
    const [crashed, ...others] = rig.statuses.filter(({ state }) => state === 'crashed');
    expect(others).toEqual([]);
    expect(crashed?.exit).toEqual({ code: null, signal: 'SIGKILL', reason: 'crash' });
    expect(crashed?.plan).toEqual({ steps: [{ action: 'start', at: expect.any(String) }], next: 0 });
    rig.control.sendCommand('crash 1', 'anna');
    await rig.reaches('crashed');
    expect(rig.control.stop('anna')).toMatchObject({ state: 'stopped', plan: null });
    expect(rig.runs).toBe(2);
  });

  it('is followed by none where autostart is turned off meanwhile', async () => {
    const rig = newRig({ autoStartServer: true });
    await rig.started();
    rig.control.sendCommand('crash 1', 'anna');
    await rig.reaches('crashed');
    rig.settings.update({ autoStartServer: false });
    expect(rig.control.status()).toMatchObject({ state: 'crashed', plan: null });
    expect(rig.statuses.at(-1)?.plan).toBeNull();
  });

  it('is where it stays with autostart off', async () => {
    const rig = newRig({ startLine: fakeLine('--crash-at-start') });
    rig.control.start('anna');
    expect(await rig.reaches('crashed')).toMatchObject({ plan: null, exit: { code: 3, reason: 'crash' } });
    expect(rig.texts('err')).toEqual(['cannot find my map']);
    expect(keyOf(() => rig.control.start('anna'))).toBe('accepted');
  });

  it('takes along what the server has left behind', async () => {
    const rig = newRig({ startLine: fakeLine('--grandchild') });
    await rig.started();
    const grandchild = Number(/\d+/.exec(await rig.line(/^grandchild/))?.[0]);
    rig.control.sendCommand('crash 1', 'anna');
    expect((await rig.reaches('crashed')).exit?.reason).toBe('crash');
    expect(isGone(grandchild)).toBe(true);
  });

  it('is one also while somebody outside of its group holds its output; a stop then ends nobody else', async () => {
    const rig = newRig({ shutdownMode: 'immediate', startLine: fakeLine('--escaped-grandchild') });
    const pid = await rig.started();
    const escaped = Number(/\d+/.exec(await rig.line(/^escaped/))?.[0]);
    const signals = vi.spyOn(process, 'kill');
    rig.control.sendCommand('crash 1', 'anna');
    await expect.poll(() => isReaped(pid), { interval: 1 }).toBe(true);
    rig.control.stop('anna');
    expect((await rig.reaches('stopped')).exit).toEqual({ code: 1, signal: null, reason: 'crash' });
    expect(signals.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([]);
    signals.mockRestore();
    process.kill(escaped, 'SIGKILL');
  });

  it('tells what has changed since the last good run', async () => {
    const rig = newRig();
    await rig.started();
    rig.control.stop('anna');
    await rig.reaches('stopped');
    rig.settings.update({ stopLine: 'exit' });
    rig.control.start('anna');
    await expect.poll(() => rig.texts('out').filter((text) => text.startsWith('ready')).length).toBe(2);
    rig.control.sendCommand('crash 1', 'anna');
    await rig.reaches('crashed');
    await rig.crashes.settled();
    expect(rig.crashes.get(String(rig.crashes.list()[0]?.id)).changes).toEqual(['setting stopLine changed']);
  });
});

describe('a program that cannot be started', () => {
  it.each([
    ['because it is not there', { startLine: '/not/there' }, 'the program "/not/there" was not found', null],
    ['because its folder is missing', { serverRoot: '/not/there' }, 'the folder /not/there does not exist', 'launch'],
  ] as const)('is told with its reason: %s', async (_why, changes, failure, gaveUp) => {
    const rig = newRig(changes);
    rig.control.start('anna');
    const exit = { code: null, signal: null, reason: 'spawn' };
    expect(await rig.reaches('crashed')).toMatchObject({ gaveUp, exit, failure });
    expect(rig.texts('panel')).toContain(`The server could not start: ${failure}`);
  });

  it('forgets the reason when it starts', async () => {
    const rig = newRig({ startLine: '/not/there' });
    rig.control.start('anna');
    await rig.reaches('crashed');
    rig.settings.update({ startLine: fakeLine() });
    await rig.started();
    expect(rig.control.status().failure).toBeNull();
  });
});

describe('a server that is not configured', () => {
  it.each([
    ['startLine', { startLine: ' ' }],
    ['serverRoot', { serverRoot: '' }],
    ['serverRoot', { backend: 'standalone', serverRoot: '' }],
  ] as const)('names the missing setting, is not started, and has not crashed: %s', async (missing, changes) => {
    const rig = newRig({ ...changes, autoStartServer: true });
    await rig.control.open();
    expect(rig.control.status()).toMatchObject({ state: 'stopped', missing, exit: null });
    const refusal = expect.objectContaining({ key: 'server.unconfigured' });
    expect(() => rig.control.start('anna')).toThrow(refusal);
    expect(() => rig.control.restart('anna')).toThrow(refusal);
    expect(rig.runs).toBe(0);
    rig.settings.update({ backend: 'command', startLine: fakeLine(), serverRoot: rig.folder });
    expect(rig.control.status().missing).toBeNull();
    await rig.started();
  });
});

describe('the plan of a stop', () => {
  it('is said in one sentence', async () => {
    const rig = newRig({ stopWaitSeconds: 20, killWaitSeconds: 10 });
    await rig.started();
    rig.control.stop('max');
    await rig.reaches('stopped');
    expect(rig.texts('panel')).toContain('max stops the server. If it does not end: terminate in 20 s, kill in 30 s.');
  });
});

describe('a command', () => {
  it('goes to the server, and to the console with the name of who sent it', async () => {
    const rig = newRig();
    await rig.started();
    rig.control.sendCommand('say "hello" & rm -rf / ; 😀', 'anna');
    await rig.line(/^did say "hello" & rm -rf \/ ; 😀$/);
    expect(rig.texts('in')).toEqual(['anna> say "hello" & rm -rf / ; 😀']);
  });

  const NOT_ONE_LINE = [
    '',
    'a\nb',
    'a\rb',
    'a\tb',
    'a\0',
    '\u001b[0m',
    'a\u0085b',
    'a\u2028b',
    'a\u2029b',
    '\ud800',
    7,
    null,
  ];
  it.each(NOT_ONE_LINE)('is refused where it is no single line: %j', (text) => {
    const { control } = newRig();
    expect(keyOf(() => control.sendCommand(text, 'anna'))).toBe('command.text');
  });

  it('may have 4,096 characters, whatever they take', () => {
    const { control } = newRig();
    expect(keyOf(() => control.sendCommand('😀'.repeat(4096), 'anna'))).toBe('server.stopped');
    expect(keyOf(() => control.sendCommand('x'.repeat(4097), 'anna'))).toBe('command.text');
  });

  it('is refused, and not piled up, where the server does not read', async () => {
    const rig = newRig();
    await rig.started();
    rig.control.sendCommand('hang', 'anna');
    const keys = Array.from({ length: 200 }, () => keyOf(() => rig.control.sendCommand('x'.repeat(4096), 'anna')));
    expect(keys[0]).toBe('accepted');
    expect(keys.at(-1)).toBe('server.busy');
    rig.control.forceStop('anna');
    await rig.reaches('stopped');
  });
});

describe('what the server gets and gives', () => {
  it("is none of the sidecar's secrets", async () => {
    const secrets = { SIDECAR_DATABASE_URL: 'a secret', MY_DATABASE_URL: 'a secret', PGPASSWORD: 'a secret' };
    Object.assign(process.env, secrets);
    const rig = newRig();
    await rig.started();
    for (const name of Object.keys(secrets)) delete process.env[name];
    rig.control.sendCommand('env', 'anna');
    const line = await rig.line(/^env /);
    expect(line).toContain('GAME_PANEL_RUN');
    expect(line).not.toContain('a secret');
  });

  it('is a line also where its bytes are no text, or it never ends', async () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0x41, 0x0a]), Buffer.alloc(30_000, 'x')]);
    const rig = newRig({ startLine: fakeLine('--silent', '--bytes', bytes.toString('hex')) });
    rig.control.start('anna');
    await rig.line(/^\ufffd\ufffdA$/);
    rig.control.stop('anna');
    await rig.reaches('stopped');
    await rig.line(/^x{1000}/);
  });

  it('is every line of a flood', async () => {
    const rig = newRig();
    await rig.started();
    rig.control.sendCommand('flood 20000', 'anna');
    await rig.line(/^flood 20000$/);
    expect(rig.texts('out').filter((text) => text.startsWith('flood'))).toHaveLength(20_000);
  });
});

describe('the panel itself', () => {
  it('starts the server where the owner said so', async () => {
    const rig = newRig({ autoStartServer: true });
    await rig.control.open();
    await rig.line(/^ready/);
  });

  it('stops the server when it stops, and does not start it again', async () => {
    const rig = newRig({ autoStartServer: true });
    const pid = await rig.started();
    await rig.control.close();
    expect(isGone(pid)).toBe(true);
    expect(rig.state).toBe('stopped');
    expect(rig.runs).toBe(1);
  });

  it('ends what it has left behind when it was killed, and then starts', async () => {
    const killed = newRig({ startLine: fakeLine('--ignore-sigterm', '--stubborn-grandchild') });
    const pid = await killed.started();
    const grandchild = Number(/\d+/.exec(await killed.line(/^grandchild/))?.[0]);
    const next = newRig({ killWaitSeconds: 0.3, autoStartServer: true }, killed.folder);
    await next.control.open();
    expect(next.control.status()).toMatchObject({ state: 'stopping', pid });
    expect(actionsOf(next.control.status())).toEqual(['terminate', 'kill', 'start']);
    expect(keyOf(() => next.control.start('anna'))).toBe('server.running');
    await next.line(/^ready/);
    expect([pid, grandchild].map(isGone)).toEqual([true, true]);
  });
});
