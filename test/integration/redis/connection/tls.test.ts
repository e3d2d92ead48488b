import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';
import { skipWithout } from '../../../support/skip-without.ts';

const run = promisify(execFile);
const redis = await startPrivateRedis();
const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-tls-'));
const [keyFile, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
const server = createServer((client) => {
  const plain = connect(redis.port, '127.0.0.1');
  client.pipe(plain).pipe(client);
  for (const socket of [client, plain]) socket.on('error', () => undefined);
});
let port = 0;

/**
 * Pings over TLS in a process of its own: Node reads its certificate authorities at start. Prints PONG or the
 * reason.
 */
async function ping(env: Record<string, string>): Promise<string> {
  const module = new URL('../../../../src/redis/connection/connect.ts', import.meta.url).href;
  const script = `import { createRedisConnections } from '${module}';
    const options = { connectionName: 'fw-test', onStateChange() {} };
    await using redis = createRedisConnections('rediss://localhost:${port}', options);
    const pong = redis.untilReady(1500).then(() => redis.command().ping());
    process.stdout.write(await pong.catch(String));`;
  const args = ['--input-type=module-typescript', '--eval', script];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...env } });
  return stdout;
}

describe.skipIf(skipWithout('openssl'))('a Redis over TLS (skipped without openssl)', () => {
  beforeAll(async () => {
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1'];
    await run('openssl', [...request, ...subject, '-keyout', keyFile, '-out', certificate]);
    server.setSecureContext({ key: await readFile(keyFile), cert: await readFile(certificate) });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(async () => {
    server.close();
    await redis.close();
    await rm(folder, { recursive: true });
  });

  test('is refused when its certificate is not trusted', async () => {
    expect(await ping({})).toMatch(/rediss:\/\/localhost:\d+: self-signed certificate/);
  });

  test('is used when NODE_EXTRA_CA_CERTS vouches for it', async () => {
    expect(await ping({ NODE_EXTRA_CA_CERTS: certificate })).toBe('PONG');
  });
});
