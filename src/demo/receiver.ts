import { hkdfSync } from 'node:crypto';
import { startCallbackReceiver } from './callback-receiver.ts';
import { putAccount, subscribe } from './daemon-api.ts';
import { simulateLives } from './simulate-lives.ts';
import { stopOnSignalsOrBrokenPipe } from '../daemon/stop-on-signals.ts';

// A receiver on its own, for Docker Compose: it registers itself with a daemon that may still be starting.
// Its variables: DAEMON_URL, API_TOKEN (required), ACCOUNT, RECEIVER_HOST, RECEIVER_PORT and PUBLIC_URL (its
// address for the daemon). With SANDBOX_URL and SANDBOX_KEY it also creates ACCOUNT for that sandbox and
// starts the sandbox's simulation.
const variable = (name: string, fallback: string): string => process.env[name] || fallback;
const api = { url: variable('DAEMON_URL', 'http://127.0.0.1:3000'), token: variable('API_TOKEN', '') };
const account = variable('ACCOUNT', 'default');
const sandboxUrl = variable('SANDBOX_URL', '');
// A key of its own, derived from the token (RFC 5869): the same after a restart, without being stored.
const derived = hkdfSync('sha256', api.token, '', 'filing-webhooks demo receiver: signing secret', 32);
const secret = `whsec_${Buffer.from(derived).toString('base64')}`;

const stop = stopOnSignalsOrBrokenPipe();
const say = (line: string): void => console.log(line);
try {
  if (api.token === '') throw new Error('API_TOKEN is required and not set');
  await using receiver = await startCallbackReceiver({
    host: variable('RECEIVER_HOST', '127.0.0.1'),
    port: Number(variable('RECEIVER_PORT', '3001')),
    secret,
    say,
  });
  if (sandboxUrl !== '') await watchSandbox();
  const url = variable('PUBLIC_URL', receiver.url);
  const id = await subscribe(api, { account, url, secret }, stop.signal);
  say(`Subscribed to account ${account} as ${id}; waiting for callbacks at ${url}`);
  if (!stop.signal.aborted) await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
} catch (error) {
  if (!stop.signal.aborted) {
    process.exitCode = 1;
    console.error(`The receiver cannot go on: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function watchSandbox(): Promise<void> {
  const partnerKey = variable('SANDBOX_KEY', 'sandbox-key');
  await putAccount(
    api,
    account,
    { baseUrl: `${sandboxUrl}/v1`, partnerKey, pollIntervalMs: 1_000 },
    stop.signal,
  );
  await simulateLives(sandboxUrl);
}
