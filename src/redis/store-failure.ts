// Errors of ioredis and of the system below it. Most errors of ioredis have only a text, no class or code of
// their own.
const clientErrors = new Set([
  'AbortError',
  'ClusterAllFailedError',
  'InterruptError',
  'MaxRetriesPerRequestError',
  'MissingRedisError',
]);
const clientTexts =
  /^(Connection is closed|Command timed out|connect E|Stream isn't writeable|Socket timeout|Cluster is|Cluster isn't ready|None of startup nodes|Node is disconnected|Too many Cluster redirections|Failed to refresh slots cache|All sentinels are unreachable)/;
const systemCodes = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;

// Replies that are about the server and not about the command; the reply of a script has them inside a longer
// text.
const serverReplies =
  /\b(OOM|READONLY|LOADING|MISCONF|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|NOAUTH|NOPERM|BUSY|MOVED|ASK) |max number of clients/;

/**
 * Whether an error means that Redis is away or accepts nothing at the moment (timeouts, lost connections, out
 * of memory, read-only, still loading), as opposed to a mistake of the daemon. Whether the command had an
 * effect is not known then.
 */
export function isStoreFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && systemCodes.test(code)) return true;
  if (error.name === 'ReplyError') return serverReplies.test(error.message);
  return clientErrors.has(error.name) || clientTexts.test(error.message);
}

/**
 * An error with what failed in front of its text. With Redis away everything fails: then the error stays as
 * it is, the same for all that failed.
 */
export function nameFailure(what: string, error: Error): Error {
  return isStoreFailure(error) ? error : new Error(`${what}: ${error.message}`, { cause: error });
}
