import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../../../src/sandbox/main.ts', import.meta.url));

function runSandbox(env: Record<string, string>) {
  const child = spawn(process.execPath, [main], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  return { child, output, closed: once(child, 'close') };
}

const listening = async ({
  child,
  output,
}: ReturnType<typeof runSandbox>): Promise<{ url: string; baseUrl: string }> => {
  while (!output.stdout.includes('\n')) {
    // oxlint-disable-next-line no-await-in-loop -- the line may come in parts
    await once(child.stdout, 'data');
  }
  return JSON.parse(output.stdout);
};

describe('npm run sandbox', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'prints one JSON line with its URL, serves, and exits 0 on %s',
    async (signal) => {
      const sandbox = runSandbox({
        SANDBOX_PORT: '0',
        SANDBOX_KEY: 'first',
        SANDBOX_KEYS: 'third:acme, with:colon:acme',
      });
      const { url, baseUrl } = await listening(sandbox);
      expect(baseUrl).toBe(`${url}/v1`);
      const emails = await Promise.all(
        ['first', 'sandbox-key-2', 'third', 'with:colon'].map(async (key) => {
          const response = await fetch(`${baseUrl}/partner/me`, { headers: { PartnerKey: key } });
          return response.json();
        }),
      );
      expect(emails).toMatchObject([
        { email: 'default@partner.example' },
        { email: 'second@partner.example' },
        { email: 'acme@partner.example' },
        { email: 'acme@partner.example' },
      ]);
      sandbox.child.kill(signal);
      expect(await sandbox.closed).toEqual([0, null]);
      expect(sandbox.output.stdout.trim().split('\n')).toHaveLength(1);
    },
  );

  it('names every problem of its configuration, without any key, and exits 78', async () => {
    const sandbox = runSandbox({
      SANDBOX_PORT: '70000',
      SANDBOX_KEY: 'not secret',
      SANDBOX_KEYS: 'no-owner,k:o w',
    });
    expect(await sandbox.closed).toEqual([78, null]);
    expect(sandbox.output.stderr).toMatch(
      /SANDBOX_PORT.*\n.*SANDBOX_KEY .*\n.*SANDBOX_KEYS entry 1.*\n.*entry 2/,
    );
    expect(sandbox.output.stderr).not.toMatch(/not secret|no-owner|o w/);
  });

  it('says so when the port is taken, and exits 1', async () => {
    const first = runSandbox({ SANDBOX_PORT: '0' });
    const { url } = await listening(first);
    const second = runSandbox({ SANDBOX_PORT: new URL(url).port });
    expect(await second.closed).toEqual([1, null]);
    expect(second.output.stdout).toContain('EADDRINUSE');
    first.child.kill('SIGTERM');
    await first.closed;
  });
});
