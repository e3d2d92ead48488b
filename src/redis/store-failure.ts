// Errors of ioredis and of the system below it. ioredis gives most of them no class or code of their own,
// only a text.
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

// Replies that say something about the server and nothing about the command; a script's caller finds them
// inside a longer text.
const serverReplies =
  /\b(OOM|READONLY|LOADING|MISCONF|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|NOAUTH|NOPERM|BUSY|MOVED|ASK) |max number of clients/;

/**
 * Whether an error means that Redis is away or takes nothing at the moment (timeouts, lost connections, out
 * of memory, read-only, still loading), as opposed to a mistake of ours. Whether the command had an effect is
 * not known then; pure.
 */
export function isStoreFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && systemCodes.test(code)) return true;
  if (error.name === 'ReplyError') return serverReplies.test(error.message);
  return clientErrors.has(error.name) || clientTexts.test(error.message);
}

/**
 * An error with what failed in front of its text. With Redis away everything fails: then the error is told as
 * it is, once for all.
 */
export function nameFailure(what: string, error: Error): Error {
  return isStoreFailure(error) ? error : new Error(`${what}: ${error.message}`, { cause: error });
}
