import type { DaemonApi } from './daemon-api.ts';
import type { DemoDaemon } from './demo-daemon.ts';
import type { ProvidedRedis } from './provide-redis.ts';

/** The started parts and their addresses, for people. */
export function whatRuns(
  daemon: DemoDaemon,
  redis: ProvidedRedis,
  sandboxUrl: string,
  receiverUrl: string,
): string {
  return [
    '',
    'Running now',
    `  Redis       ${redis.describe}; every key begins with ${daemon.prefix}`,
    `  Sandbox     ${sandboxUrl}/v1 plays the partner service; its filings move by themselves`,
    `  Daemon      ${daemon.url} polls it twice a second`,
    `  Receiver    ${receiverUrl} is subscribed, verifies each callback and prints it`,
  ].join('\n');
}

/** The line with the dashboard's link, which works while the daemon runs. */
export function linkOf({ url, token }: DaemonApi): string {
  return `  Dashboard   ${url}/#/link/${token} (signs you in)`;
}

/** Directions to dashboard, API and logs. The curl line works as printed while the daemon runs. */
export function howToLookFurther(daemon: DaemonApi, logFile: string): string {
  return [
    '',
    'Look further while the demo runs (Ctrl-C ends it)',
    linkOf(daemon),
    `  API         ${daemon.url}/docs`,
    `  Token       ${daemon.token}`,
    `  Log         ${logFile}`,
    `  curl -s -H 'Authorization: Bearer ${daemon.token}' ${daemon.url}/v1/accounts/default/events`,
    '',
  ].join('\n');
}
