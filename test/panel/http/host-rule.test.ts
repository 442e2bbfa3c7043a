import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HostRule, type HostSettings } from '#panel/http/host-rule.ts';
import type { PanelError } from '#panel/panel-error.ts';

const PORT = 20772;

function requestWith(host: string, origin?: string): IncomingMessage {
  const headers = { host, ...(origin === undefined ? {} : { origin }) };
  return { headers, rawHeaders: Object.entries(headers).flat() } as unknown as IncomingMessage;
}

function judge(settings: Partial<HostSettings>, host: string, origin?: string, isSecure = false): string {
  const rule = new HostRule({ publicUrl: null, allowedHosts: [], ...settings }, PORT);
  const request = requestWith(host, origin);
  try {
    rule.checkOrigin(request, rule.checkHost(request), { address: '192.0.2.1', isLoopback: false, isSecure });
    return 'ok';
  } catch (error) {
    return (error as PanelError).key;
  }
}

describe('names that the owner allows', () => {
  it.each<[string, Partial<HostSettings>, string, string]>([
    ["with the panel's port", { allowedHosts: ['Panel.Example.org'] }, `panel.example.org:${PORT}`, 'ok'],
    ['with a port of its own', { allowedHosts: ['panel.example.org:8443'] }, 'panel.example.org:8443', 'ok'],
    [
      "not with the panel's port then",
      { allowedHosts: ['panel.example.org:8443'] },
      `panel.example.org:${PORT}`,
      'host.invalid',
    ],
    ['not without a port', { allowedHosts: ['panel.example.org'] }, 'panel.example.org', 'host.invalid'],
    [
      'without a port where the public address has none',
      { publicUrl: 'https://panel.example.org' },
      'panel.example.org',
      'ok',
    ],
    ['with 443 there', { publicUrl: 'https://panel.example.org' }, 'panel.example.org:443', 'ok'],
    ['not with 80 there', { publicUrl: 'https://panel.example.org' }, 'panel.example.org:80', 'host.invalid'],
    ['without a port for http too', { publicUrl: 'http://panel.example.org' }, 'panel.example.org', 'ok'],
    [
      'the public address with its port',
      { publicUrl: 'https://panel.example.org:8443' },
      'panel.example.org:8443',
      'ok',
    ],
    ['and not without', { publicUrl: 'https://panel.example.org:8443' }, 'panel.example.org', 'host.invalid'],
    ['no name below', { publicUrl: 'https://panel.example.org' }, 'evil.panel.example.org', 'host.invalid'],
    ['loopback never without its port', { publicUrl: 'https://panel.example.org' }, 'localhost', 'host.invalid'],
  ])('%s', (_what, settings, host, expected) => {
    expect(judge(settings, host)).toBe(expected);
  });
});

describe('the scheme of an origin', () => {
  const settings = { publicUrl: 'https://panel.example.org' };

  it.each<[string, string, boolean, string]>([
    ['panel.example.org', 'https://panel.example.org', false, 'ok'],
    ['panel.example.org', 'http://panel.example.org', false, 'origin.invalid'],
    [`localhost:${PORT}`, `http://localhost:${PORT}`, false, 'ok'],
    [`localhost:${PORT}`, `https://localhost:${PORT}`, false, 'origin.invalid'],
    [`localhost:${PORT}`, `https://localhost:${PORT}`, true, 'ok'],
  ])('%s from %s (https: %s): %s', (host, origin, isSecure, expected) => {
    expect(judge(settings, host, origin, isSecure)).toBe(expected);
  });
});
