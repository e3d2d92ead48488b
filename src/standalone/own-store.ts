import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { complete, textOf, type Environment } from '../config/environment.ts';
import { findServer, installServer, packagesWithServer } from '../redis/server/find-server.ts';
import { names, openDataFolder } from './data-folder.ts';
import { startOwnRedis } from './own-redis.ts';
import { secretsOf } from './secrets.ts';
import { StandaloneError } from './standalone-error.ts';

/** The store that a daemon without a REDIS_URL brings along, in a folder that it has for itself. */
export interface OwnStore {
  /** The given variables, with the address of the store and the secrets of the folder. */
  readonly environment: Environment;
  /** Starts the server; disposing of the result ends it in order. Rejects with StandaloneError. */
  start(logger: Logger, signal: AbortSignal): Promise<AsyncDisposable>;
  /** Shows the address of the page at the terminal, and after the first start the next steps. */
  started(url: string | null): void;
}

// Maximum bytes of the path of a Unix socket, on all systems.
const socketPathMax = 103;

/**
 * Prepares the folder and finds a server; on Debian, as root, it is installed if need be. Rejects with
 * StandaloneError. Nothing runs yet.
 */
export async function openOwnStore(env: Environment, dataDir: string): Promise<OwnStore> {
  const path = resolve(dataDir);
  const socket = join(path, names.socket);
  if (Buffer.byteLength(socket) > socketPathMax)
    throw new StandaloneError(
      `${path} is too long for the path of a socket: name a folder of at most ${socketPathMax - names.socket.length - 1} bytes`,
    );
  const executable = await serverFor(env);
  const folder = await openDataFolder(path);
  const secrets = await secretsOf(path, env);
  const address = `redis+unix://${socket.split('/').map(encodeURIComponent).join('/')}`;
  const environment = complete(env, { ...secrets.values, REDIS_URL: address });
  const token = textOf(environment, 'API_TOKEN') ?? '';
  // The journal keeps what a service writes, and others may read it.
  const isShown = secrets.made && textOf(env, 'JOURNAL_STREAM') === null;
  return {
    environment,
    async start(logger, signal) {
      const server = await startOwnRedis({ folder: path, executable, logger, signal });
      return {
        async [Symbol.asyncDispose]() {
          await server[Symbol.asyncDispose]();
          folder[Symbol.dispose]();
        },
      };
    },
    started(url) {
      if (url === null) return;
      const page = textOf(env, 'PUBLIC_URL') ?? url;
      process.stderr.write(isShown ? firstSteps(page, token, path) : pageAt(page, path));
    },
  };
}

async function serverFor(env: Environment): Promise<string> {
  const found = findServer(env);
  if (found !== null) return found;
  const say = (): void => void process.stderr.write('Installing the Debian package redis-server …\n');
  await installServer(env, say).catch((error: Error) => {
    throw new StandaloneError(`redis-server could not be installed: ${error.message}`, { cause: error });
  });
  const installed = findServer(env);
  if (installed !== null) return installed;
  throw new StandaloneError(
    [
      'there is no redis-server or valkey-server in the path to keep its data. Install one:',
      ...packagesWithServer,
      'or set REDIS_URL to the address of a Redis that runs already.',
    ].join('\n'),
  );
}

// The line after each start: the page, and the file with its token.
function pageAt(url: string, folder: string): string {
  return `The page: ${url}/ (its token is API_TOKEN in ${join(folder, names.secrets)})\n`;
}

// The text after the first start: a link that signs in, and the requests by which to begin.
function firstSteps(url: string, token: string, folder: string): string {
  const account = `${url}/v1/accounts/default`;
  const headers = `-H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json'`;
  return `
The daemon runs, and keeps everything in ${folder}. Its token and its key are in ${names.secrets} there.

  The page          ${url}/
  Signs you in      ${url}/#/link/${token}

Name the account to watch (npm run sandbox serves one for tests: http://127.0.0.1:4010/v1, key sandbox-key):

  curl -X PUT ${account} ${headers} \\
    -d '{ "baseUrl": "https://partner.example.com/v1", "partnerKey": "the-key-of-your-account" }'

Subscribe; the answer has the secret that signs the callbacks, this once:

  curl -X POST ${account}/subscriptions ${headers} \\
    -d '{ "url": "https://hooks.example.com/filings", "statuses": ["COMPLETED", "REJECTED"] }'

`;
}
