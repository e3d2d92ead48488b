import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { createServer } from 'node:tls';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon/data-folder.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { createTestAuthority, type Issued } from '../support/receivers/certificates.ts';
import { receiverSecret, startReceiver } from '../support/receivers/receiver.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { skipWithout } from '../support/skip-without.ts';

const list = new URL('../../src/egress/withdrawn-authorities.ts', import.meta.url).href;
const account = '/v1/accounts/default';

interface Account {
  readonly health: { readonly state: string; readonly lastError: string | null };
}

/** A program that puts an authority into the list before the daemon begins. */
const withdrawing = (cert: string) => {
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
  const push = `withdrawnAuthorities.push({ fingerprint: '${fingerprint}' })`;
  const program = `import { withdrawnAuthorities } from '${list}'; ${push};`;
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
};

/** The address of a server over TLS that passes everything on to one over http. */
async function overTls({ cert, key }: Issued, chain: string, url: string): Promise<string> {
  const { port } = new URL(url);
  const server = createServer({ cert: cert + chain, key }, (socket) => {
    const upstream = connect(Number(port), '127.0.0.1');
    for (const each of [socket, upstream]) each.on('error', () => upstream.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return url.replace(
    `http://127.0.0.1:${port}`,
    `https://localhost:${(server.address() as { port: number }).port}`,
  );
}

/** Runs a daemon with this environment; resolves to how a poll and a callback to each endpoint end. */
async function outcomesOf(environment: Readonly<Record<string, string>>, endpoints: readonly string[]) {
  await using redis = await startPrivateRedis();
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    PARTNER_KEY: 'sandbox-key',
    ...environment,
  });
  const polled = await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<Account>('GET', account);
    expect(health.state === 'ok' || health.lastError !== null).toBe(true);
    return health.lastError ?? health.state;
  }, 20_000);
  const attempts = await Promise.all(
    endpoints.map(async (url) => {
      const path = `${account}/subscriptions`;
      const { id } = await daemon.api.ok<{ id: string }>('POST', path, { url, secret: receiverSecret });
      const { outcome } = await daemon.api.ok<{ outcome: string }>('POST', `${path}/${id}/test`);
      return outcome;
    }),
  );
  return { polled, attempts };
}

test.skipIf(skipWithout('openssl'))(
  'a chain to a withdrawn authority is refused by polls and callbacks, one to another is not (skipped without openssl)',
  async () => {
    await using root = await createTestAuthority('withdrawn root');
    await using intermediate = await createTestAuthority('intermediate', root);
    await using other = await createTestAuthority('other root');
    const [bad, good] = await Promise.all([intermediate.issue('service'), other.issue('service')]);
    const extra = join(await temporaryFolder(), 'extra.pem');
    await writeFile(extra, root.cert + other.cert);
    await using sandbox = await startSandbox();
    await using receiver = await startReceiver();
    const [badPartner, goodPartner, ...endpoints] = await Promise.all(
      [sandbox.baseUrl, receiver.url].flatMap((url) => [
        overTls(bad, intermediate.cert, url),
        overTls(good, '', url),
      ]),
    );
    const environment = { NODE_EXTRA_CA_CERTS: extra, PARTNER_BASE_URL: String(badPartner) };
    expect(await outcomesOf(environment, endpoints)).toEqual({
      polled: 'ok',
      attempts: ['delivered', 'delivered'],
    });
    const withdrawn = { ...environment, NODE_OPTIONS: withdrawing(root.cert) };
    expect(await outcomesOf(withdrawn, endpoints)).toEqual({
      polled: expect.stringContaining('UNABLE_TO_GET_ISSUER_CERT') as string,
      attempts: ['tls_error', 'delivered'],
    });
    expect(
      (await outcomesOf({ ...withdrawn, PARTNER_BASE_URL: String(goodPartner) }, endpoints)).polled,
    ).toBe('ok');
  },
  120_000,
);
