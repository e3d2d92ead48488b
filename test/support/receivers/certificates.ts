import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tlsOf, type Tls, type TlsInput } from '../../../src/subscriptions/options/tls.ts';

const run = promisify(execFile);

/** A certificate and its key (PEM). */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

/** A private authority that issues certificates while it exists; needs openssl. */
export interface TestAuthority extends Issued, AsyncDisposable {
  /**
   * Issues a certificate that ends in so many days, before now where that is negative. `key` are the
   * arguments of `openssl req` for its key.
   */
  issue(
    name: string,
    options?: {
      readonly hosts?: readonly string[];
      readonly days?: number;
      readonly key?: readonly string[];
    },
  ): Promise<Issued>;
}

const ec = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/** An authority for the tests of one file: its own root, or below another one. */
export async function createTestAuthority(name = 'test authority', parent?: Issued): Promise<TestAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-ca-'));
  const at = (file: string) => join(folder, file);
  const own = ['-subj', `/CN=${name}`, '-days', '3650', '-keyout', at('ca.key'), '-out', at('ca.pem')];
  if (parent !== undefined) {
    await writeFile(at('parent.pem'), parent.cert);
    await writeFile(at('parent.key'), parent.key);
    own.push('-CA', at('parent.pem'), '-CAkey', at('parent.key'));
  }
  await run('openssl', ['req', '-x509', '-newkey', ...ec, '-nodes', ...own]);
  let issued = 0;
  return {
    cert: await readFile(at('ca.pem'), 'utf8'),
    key: await readFile(at('ca.key'), 'utf8'),
    async issue(subject, { hosts = ['localhost', '127.0.0.1'], days = 365, key = ec } = {}) {
      const [keyFile, request, file] = ['key', 'csr', 'pem'].map((end) => at(`${(issued += 1)}.${end}`));
      const names = `subjectAltName=${hosts.map((host) => `${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`).join(',')}`;
      const files = ['-keyout', String(keyFile), '-out', String(request)];
      await run('openssl', [
        'req',
        '-newkey',
        ...key,
        '-nodes',
        '-subj',
        `/CN=${subject}`,
        '-addext',
        names,
        ...files,
      ]);
      const by = [
        '-CA',
        at('ca.pem'),
        '-CAkey',
        at('ca.key'),
        '-copy_extensions',
        'copy',
        '-days',
        String(days),
      ];
      await run('openssl', ['x509', '-req', '-in', String(request), ...by, '-out', String(file)]);
      return { cert: await readFile(String(file), 'utf8'), key: await readFile(String(keyFile), 'utf8') };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** The setting that the API makes of such a request. */
export function tlsFrom(tls: NonNullable<TlsInput>): Tls {
  return tlsOf({ tls }).tls as Tls;
}
