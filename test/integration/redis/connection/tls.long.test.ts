import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { explainMissing, MissingRedisError } from '../../../../src/redis/connection/missing-redis.ts';
import { freePort } from '../../../../src/redis/server/redis-process.ts';
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

/** Pings in this process; PONG, or the explanation of why there is none. */
async function pingHere(url: string): Promise<string> {
  await using connections = createRedisConnections(url, {
    connectionName: 'fw-test',
    onStateChange: () => undefined,
  });
  try {
    await connections.untilReady(3_000);
    return await connections.command().ping();
  } catch (error) {
    if (error instanceof MissingRedisError) return explainMissing(error.reason);
    throw error;
  }
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

  test('a Redis that wants client certificates gets that of the files in REDIS_URL, and says so without it', async () => {
    const tlsPort = await freePort();
    const [otherKey, other] = [join(folder, 'other-key.pem'), join(folder, 'other.pem')];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=other', '-days', '1'];
    await run('openssl', [...request, '-keyout', otherKey, '-out', other]);
    await using own = await startPrivateRedis({
      args: `--tls-port ${tlsPort} --tls-cert-file ${certificate} --tls-key-file ${keyFile} --tls-ca-cert-file ${certificate}`.split(
        ' ',
      ),
    });
    const url = `rediss://localhost:${tlsPort}?cacert=${certificate}`;
    expect(await pingHere(`${url}&cert=${certificate}&key=${keyFile}`)).toBe('PONG');
    expect(await pingHere(url)).toContain('wants a certificate of its client');
    // The alert may be lost with the connection that the server cuts.
    expect(await pingHere(`${url}&cert=${other}&key=${otherKey}`)).toMatch(
      /refuses the certificate|cuts the/,
    );
    expect(await pingHere(`rediss://localhost:${tlsPort}`)).toContain(
      'cacert in REDIS_URL names its authority',
    );
    expect(await pingHere(own.url.replace(String(own.port), String(tlsPort)))).toContain('rediss://');
  });

  test.each([
    ['are missing', () => `cacert=${folder}/none.pem`, /none\.pem as cacert, .*ENOENT.*give the path/],
    ['do not fit together', () => `cert=${certificate}&key=${certificate}`, /files in PEM/],
    ['hold no certificate', () => `cacert=${keyFile}`, /files in PEM/],
  ])('files that %s are refused before anything is connected', (_, query, problem) => {
    const open = () =>
      createRedisConnections(`rediss://localhost?${query()}`, {
        connectionName: 'fw-test',
        onStateChange: () => undefined,
      });
    expect(open).toThrow(problem);
  });
});
