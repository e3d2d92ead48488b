import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subscribe } from './daemon-api.ts';
import type { DemoDaemon } from './demo-daemon.ts';
import { provideRedis } from './provide-redis.ts';
import { seedFilings, simulateLives } from './simulate-lives.ts';
import { stopOnSignalsOrBrokenPipe } from '../daemon/stop-on-signals.ts';

const partnerKey = 'sandbox-key';
// Number of callbacks after which the link is printed again: it stays in sight in a terminal of 24 lines.
const linkEvery = 20;
// Milliseconds after which the process ends even if a part has not stopped; a stop takes about a second.
const stopDeadlineMs = 15_000;

const say = (line: string): void => console.log(line);

/**
 * Starts all parts, prints callbacks until `stop` aborts or `callbacksMax` of them have arrived, and stops
 * all parts.
 */
async function runDemo(
  callbacksMax: number,
  tally: { callbacks: number },
  stop: AbortController,
): Promise<void> {
  say('Starting … this takes a few seconds');
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await provideRedis({ env: process.env, log: say, allowEmulation: true }));
  const sandboxUrl = await startSandbox(stack);
  const logFile = join(await makeFolder(stack), 'daemon.log');
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const { startCallbackReceiver } = await import('./callback-receiver.ts');
  const receiver = await startCallbackReceiver({
    host: '127.0.0.1',
    port: 0,
    secret,
    say,
    onCallback() {
      tally.callbacks += 1;
      if (tally.callbacks % linkEvery === 0) say(linkOf(daemon));
      if (tally.callbacks === callbacksMax) stop.abort();
    },
  });
  stack.use(receiver);
  stop.signal.throwIfAborted();
  const { startDemoDaemon } = await import('./demo-daemon.ts');
  const daemon = await startDemoDaemon({ redisUrl: redis.url, sandboxUrl, partnerKey, logFile });
  stack.use(daemon);
  say(directions({ daemon, redis: redis.describe, sandboxUrl, receiverUrl: receiver.url, logFile }));
  await subscribe(daemon, { account: 'default', url: receiver.url, secret }, stop.signal);
  await simulateLives(sandboxUrl);
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
}

// The running parts, and ways to look further. The curl line works as printed while the daemon runs.
function directions(parts: {
  readonly daemon: DemoDaemon;
  readonly redis: string;
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly logFile: string;
}): string {
  const { url, token, prefix } = parts.daemon;
  return `
Running now
  Redis       ${parts.redis}; every key begins with ${prefix}
  Sandbox     ${parts.sandboxUrl}/v1 plays the partner service; its filings move by themselves
  Daemon      ${url} polls it twice a second
  Receiver    ${parts.receiverUrl} is subscribed, verifies each callback and prints it

Look further while the demo runs (Ctrl-C ends it)
${linkOf(parts.daemon)}
  API         ${url}/docs
  Token       ${token}
  Log         ${parts.logFile}
  curl -s -H 'Authorization: Bearer ${token}' ${url}/v1/accounts/default/events
`;
}

// The line with the dashboard's link, which works while the daemon runs.
function linkOf({ url, token }: DemoDaemon): string {
  return `  Dashboard   ${url}/#/link/${token} (signs you in)`;
}

async function startSandbox(stack: AsyncDisposableStack): Promise<string> {
  // This, the receiver and the daemon take seconds to load, after the first line.
  const { createSandbox } = await import('../sandbox/sandbox.ts');
  const sandbox = createSandbox();
  stack.defer(() => sandbox.close());
  const url = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  await seedFilings(url);
  return url;
}

async function makeFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-demo-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const stop = stopOnSignalsOrBrokenPipe();
stop.signal.addEventListener('abort', () => setTimeout(() => process.exit(1), stopDeadlineMs).unref());
const tally = { callbacks: 0 };
try {
  await runDemo(Number(process.env['DEMO_CALLBACKS'] || Infinity), tally, stop);
  say(
    `${tally.callbacks} callbacks came with a right signature. Everything is stopped; nothing is left behind.`,
  );
} catch (error) {
  if (!stop.signal.aborted) {
    process.exitCode = 1;
    console.error(`The demo cannot go on: ${error instanceof Error ? error.message : String(error)}`);
  }
}
