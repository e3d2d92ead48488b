import { describe, expect, it } from 'vitest';
import { parseSandboxConfig } from '../../../src/sandbox/sandbox-config.ts';

const builtIn = [
  { key: 'sandbox-key', owner: 'default' },
  { key: 'sandbox-key-2', owner: 'second' },
];

describe('sandbox configuration', () => {
  it('has defaults for everything; empty counts as absent', () => {
    const expected = { ok: true, config: { host: '127.0.0.1', port: 4010, keys: builtIn } };
    expect(parseSandboxConfig({})).toEqual(expected);
    expect(
      parseSandboxConfig({ SANDBOX_PORT: '', SANDBOX_HOST: '', SANDBOX_KEY: '', SANDBOX_KEYS: '' }),
    ).toEqual(expected);
  });

  it('adds the keys of SANDBOX_KEYS to the built-in ones', () => {
    const parsed = parseSandboxConfig({ SANDBOX_PORT: '0', SANDBOX_KEYS: 'a:acme, b:c:acme,' });
    expect(parsed).toMatchObject({
      ok: true,
      config: { port: 0, keys: [...builtIn, { key: 'a', owner: 'acme' }, { key: 'b:c', owner: 'acme' }] },
    });
  });

  it.each([
    ['SANDBOX_PORT', { SANDBOX_PORT: '65536' }],
    ['SANDBOX_PORT', { SANDBOX_PORT: '-1' }],
    ['SANDBOX_PORT', { SANDBOX_PORT: '4010.5' }],
    ['SANDBOX_HOST', { SANDBOX_HOST: 'local host' }],
    ['SANDBOX_KEY', { SANDBOX_KEY: 'with space' }],
    ['SANDBOX_KEY', { SANDBOX_KEY: 'sandbox-key-2' }],
    ['SANDBOX_KEY', { SANDBOX_KEY: '"key"' }],
    ['SANDBOX_KEYS', { SANDBOX_KEYS: 'key' }],
    ['SANDBOX_KEYS', { SANDBOX_KEYS: 'key:' }],
    ['SANDBOX_KEYS', { SANDBOX_KEYS: ':owner' }],
    ['SANDBOX_KEYS', { SANDBOX_KEYS: 'key:own er' }],
    ['SANDBOX_KEYS', { SANDBOX_KEYS: 'key:a,key:b' }],
  ])('refuses a wrong %s: %o', (variable, env) => {
    const parsed = parseSandboxConfig(env);
    expect(parsed).toEqual({ ok: false, problems: [expect.stringContaining(variable)] });
  });
});
