interface Running {
  readonly daemon: { readonly url: string; readonly prefix: string };
  readonly redis: { readonly describe: string };
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
}

/** The started parts and their addresses, for people. */
export function whatRuns({ daemon, redis, sandboxUrl, receiverUrl }: Running): string {
  return [
    '',
    'Running now',
    `  Redis       ${redis.describe}; every key begins with ${daemon.prefix}`,
    `  Sandbox     ${sandboxUrl}/v1 plays the partner service; its filings move by themselves`,
    `  Daemon      ${daemon.url} polls it twice a second`,
    `  Receiver    ${receiverUrl} is subscribed, verifies each callback and prints it`,
  ].join('\n');
}

interface SignedIn {
  readonly url: string;
  readonly token: string;
}

/** The line with the dashboard's link, which works while the daemon runs. */
export function linkOf({ url, token }: SignedIn): string {
  return `  Dashboard   ${url}/#/link/${token} (signs you in)`;
}

/** Directions to dashboard, API and logs. The curl line works as printed while the daemon runs. */
export function howToLookFurther(daemon: SignedIn, logFile: string): string {
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
